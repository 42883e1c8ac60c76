//! See `holdfast_fuzz::readers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::readers::run(data));
