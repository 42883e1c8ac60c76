//! See `holdfast_fuzz::access_case`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::access_case::run(data));
