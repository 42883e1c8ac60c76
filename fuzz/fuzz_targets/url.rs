//! See `holdfast_fuzz::url`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::url::run(data));
