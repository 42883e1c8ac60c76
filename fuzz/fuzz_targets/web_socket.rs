//! See `holdfast_fuzz::web_socket`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_fuzz::web_socket::run(data));
