//! See `holdfast_fuzz::sealed_invite`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::sealed_invite::run(data));
