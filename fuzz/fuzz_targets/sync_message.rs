//! See `holdfast_fuzz::sync_message`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::sync_message::run(data));
