//! Evidence that is made up of pages alone.

pub(crate) mod page;

use std::convert::Infallible;

use scoring::tables::{Input, Lookup, Record, Tables};

/// No tables at all.
pub(crate) enum NoTables {}

impl Tables for NoTables {
    type Error = Infallible;

    async fn get(&mut self, _: &Lookup) -> Result<Vec<Record>, Infallible> {
        match *self {}
    }

    async fn create(&mut self, _: &str, _: &Record, _: Input) -> Result<Record, Infallible> {
        match *self {}
    }

    async fn update(&mut self, _: &str, _: &str, _: &Record) -> Result<Option<Record>, Infallible> {
        match *self {}
    }

    async fn delete(&mut self, _: &str, _: &str) -> Result<bool, Infallible> {
        match *self {}
    }
}

/// Nothing but pages.
macro_rules! pages_alone {
    ([$($parameters:tt)*] $world:ty) => {
        impl<$($parameters)*> scoring::Evidence for $world {
            type Tables = $crate::canned::NoTables;

            async fn probe(
                &mut self,
                question: scoring::ProbeQuestion<'_>,
            ) -> Result<Value, Infallible> {
                panic!("there is no site {}", question.site)
            }

            async fn decide(
                &mut self,
                program: &scoring::ProgramCheck,
                _: Option<&str>,
            ) -> Result<Result<scoring::Decision, scoring::Undecided>, Infallible> {
                panic!("there is no program {:?}", program.command)
            }

            fn traffic(&self) -> Option<&[u8]> {
                None
            }

            async fn servicenow(&mut self) -> Option<scoring::evidence::Session<Self::Tables>> {
                None
            }

            fn last_message(&self) -> Option<&str> {
                None
            }

            fn unreadable(doing: &'static str, why: String) -> Infallible {
                panic!("{doing}: {why}")
            }

            fn failure(doing: &'static str, why: String) -> Infallible {
                panic!("failed to {doing}: {why}")
            }
        }
    };
}

pub(crate) use pages_alone;
