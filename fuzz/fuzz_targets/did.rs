//! See `holdfast_fuzz::did`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::did::run(data));
