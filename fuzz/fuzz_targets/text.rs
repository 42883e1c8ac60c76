//! See `holdfast_fuzz::text`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::text::run(data));
