//! See `holdfast_fuzz::negentropy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::negentropy::run(data));
