/// Of what a rank tells those who send chunks to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collective) enum Notice {
    /// Of slots that it has emptied: as many chunks more may come.
    Emptied,
    /// Of chunks that have landed, where the one half a window before has been taken. What comes from a rank is taken when
    /// what was sent to it under the same number has landed as well: both have one word for that, which has the
    /// same index.
    Landed,
}
