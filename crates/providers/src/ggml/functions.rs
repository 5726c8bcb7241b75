//! Tables of the functions of a library.

/// Declares a table of functions and how it is filled from a library. Used in modules that allow unsafe code,
/// and argue for what is called through the table.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident: $($name:ident: fn($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;)*) => {
        $(#[$doc])*
        struct $table {
            $($name: unsafe extern "C" fn($($arg: $ty),*) $(-> $ret)?,)*
        }

        impl $table {
            fn find(library: &libloading::Library, path: &Path) -> Result<Self, Error> {
                Ok(Self {
                    $($name: {
                        let symbol = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the library is ggml (see the head of the file), so the symbol is
                        // a function with this signature. Whoever keeps the table keeps the library too.
                        let found = unsafe { library.get(symbol) };
                        *found.map_err(|_| Error::Symbol { path: path.to_owned(), symbol: stringify!($name) })?
                    },)*
                })
            }
        }
    };
}
