//! Front-end to worker and back.
