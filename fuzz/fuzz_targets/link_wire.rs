//! See `holdfast_fuzz::link_wire`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::link_wire::run(data));
