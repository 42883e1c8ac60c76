//! See `holdfast_fuzz::invite`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::invite::run(data));
