//! Agents from outside: programs that play, and prompts to models and what is made of the replies.

mod programs;
mod prompts;
mod replies;
