//! See `holdfast_fuzz::json_read`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::json_read::run(data));
