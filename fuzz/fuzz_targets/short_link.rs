//! See `holdfast_fuzz::short_link`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::short_link::run(data));
