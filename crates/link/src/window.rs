//! The credit rule: how much of one connection may be under way.

/// What one side has sent of a connection and not got back yet.
///
/// A message may go when nothing is outstanding, however big it is, or when it fits in
/// what is left. So a message bigger than the window goes alone, and at most the window
/// or one message is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    size: usize,
    outstanding: usize,
}

impl Window {
    /// A window of `size` bytes with nothing outstanding.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            outstanding: 0,
        }
    }

    /// Whether a message of `bytes` may go now.
    pub fn may_send(&self, bytes: usize) -> bool {
        self.outstanding == 0 || bytes <= self.size.saturating_sub(self.outstanding)
    }

    /// Counts a message that went.
    pub fn sent(&mut self, bytes: usize) {
        self.outstanding = self.outstanding.saturating_add(bytes);
    }

    /// Counts bytes the other side is done with. More than is outstanding counts as all
    /// of it: a side that gives back too much gains one window and no more.
    pub fn returned(&mut self, bytes: usize) {
        self.outstanding = self.outstanding.saturating_sub(bytes);
    }

    /// Bytes sent and not given back.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Whether the window is used up: only an empty message would still fit.
    pub fn is_full(&self) -> bool {
        self.outstanding >= self.size
    }
}

#[cfg(test)]
mod tests {
    use super::Window;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn a_message_bigger_than_the_window_goes_alone() {
        let mut window = Window::new(10);
        assert!(window.may_send(100));
        window.sent(100);
        assert!(!window.may_send(1));
        window.returned(99);
        assert!(window.may_send(9));
        assert!(!window.may_send(10));
        window.returned(1);
        assert!(window.may_send(100));
    }

    #[test]
    fn giving_back_too_much_gives_one_window() {
        let mut window = Window::new(10);
        window.sent(4);
        window.returned(1000);
        assert_eq!(window.outstanding(), 0);
        window.sent(10);
        assert!(window.is_full());
    }

    proptest! {
        #[test]
        fn never_more_than_the_window_or_one_message_is_outstanding(
            size in 1usize..200,
            steps in prop::collection::vec((any::<bool>(), 0usize..300), 1..200),
        ) {
            let mut window = Window::new(size);
            let mut under_way: VecDeque<usize> = VecDeque::new();
            for (send, bytes) in steps {
                if send && window.may_send(bytes) {
                    window.sent(bytes);
                    under_way.push_back(bytes);
                } else if let Some(done) = under_way.pop_front() {
                    window.returned(done);
                }
                let sum: usize = under_way.iter().sum();
                let biggest = under_way.iter().copied().max().unwrap_or(0);
                prop_assert_eq!(window.outstanding(), sum);
                prop_assert!(sum <= size.max(biggest));
            }
        }
    }
}
