//! What a PE has of an exchange: its end of the post, messages that are filled, and one that is taken apart.

use std::panic::Location;

use super::post::{Kind, Message, Post};

/// One PE's part of an exchange.
pub(super) struct Belt {
    pub(super) post: Post,
    /// Items that a message has room for.
    pub(super) capacity: usize,
    /// What is to be sent, by its kind and to whom.
    pub(super) buffers: [Vec<Message>; 2],
    /// The message that is taken apart.
    pub(super) inbox: Message,
    /// What it is.
    pub(super) come: Option<Come>,
    /// Items of it that were taken.
    pub(super) read: usize,
    /// Where the round that is under way was begun.
    pub(super) begun: Option<&'static Location<'static>>,
}

/// Something that has come.
#[derive(Clone, Copy)]
pub(super) struct Come {
    pub(super) from: usize,
    pub(super) kind: Kind,
}

impl Belt {
    /// For items of `size` bytes.
    pub(super) fn new(post: Post, size: usize) -> Self {
        let messages = || post.pes.iter().map(|_| Message::default()).collect();
        Self {
            capacity: post.capacity(size),
            buffers: [messages(), messages()],
            post,
            inbox: Message::default(),
            come: None,
            read: 0,
            begun: None,
        }
    }
}
