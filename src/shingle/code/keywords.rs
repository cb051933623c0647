//! The words that stand for themselves in source code: reserved words and primitive types of
//! some twenty languages, in one list, as no lexer asks which language it reads.
//!
//! A word that some language reserves but that many programs of others use for a name (`next`,
//! `data`, `list`, `value`, `out`) is not among them: a name must not matter, while a keyword
//! that is taken for a name still stands in its place. The list is frozen with the hashes:
//! another word in it makes other shingles.

use std::sync::LazyLock;

use super::super::hash::token_hash;

/// By language, each word where it comes up first.
#[rustfmt::skip]
pub(super) const KEYWORDS: &[&str] = &[
    // C, its preprocessor and its types.
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "union", "unsigned", "void", "volatile", "while", "_Bool", "include", "define", "undef",
    "ifdef", "ifndef", "elif", "endif", "pragma", "size_t", "ssize_t", "ptrdiff_t", "wchar_t",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
    "intptr_t", "uintptr_t", "NULL",
    // C++.
    "alignas", "alignof", "and", "asm", "bool", "catch", "char8_t", "char16_t", "char32_t",
    "class", "co_await", "co_return", "co_yield", "concept", "const_cast", "consteval",
    "constexpr", "constinit", "decltype", "delete", "dynamic_cast", "explicit", "export", "false",
    "final", "friend", "mutable", "namespace", "new", "noexcept", "not", "nullptr", "operator",
    "or", "override", "private", "protected", "public", "reinterpret_cast", "requires",
    "static_assert", "static_cast", "template", "this", "thread_local", "throw", "true", "try",
    "typeid", "typename", "using", "virtual", "xor",
    // Java.
    "abstract", "assert", "boolean", "byte", "extends", "finally", "implements", "import",
    "instanceof", "interface", "native", "null", "package", "strictfp", "super", "synchronized",
    "throws", "transient", "Boolean", "String",
    // C#.
    "as", "decimal", "delegate", "foreach", "implicit", "in", "internal", "is", "nameof",
    "object", "readonly", "ref", "sbyte", "sealed", "stackalloc", "string", "typeof", "uint",
    "ulong", "unchecked", "unsafe", "ushort", "var", "nint", "nuint",
    // Python.
    "async", "await", "def", "del", "except", "from", "global", "lambda", "nonlocal", "pass",
    "raise", "with", "yield", "None", "True", "False", "self",
    // JavaScript and TypeScript.
    "bigint", "debugger", "declare", "function", "keyof", "let", "never", "of", "type",
    "undefined",
    // Go.
    "chan", "defer", "fallthrough", "func", "go", "select", "complex64", "complex128", "float32",
    "float64", "int8", "int16", "int32", "int64", "nil", "rune", "uint8", "uint16", "uint32",
    "uint64", "uintptr",
    // Rust.
    "crate", "dyn", "fn", "impl", "loop", "macro_rules", "match", "mut", "pub", "trait", "use",
    "where", "Self", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize",
    // Pascal: most write it so.
    "begin", "cardinal", "div", "downto", "end", "extended", "implementation", "integer",
    "Integer", "longint", "LongInt", "longword", "procedure", "program", "real", "Real", "record",
    "repeat", "shl", "shortint", "shr", "smallint", "then", "unit", "until", "uses",
    // Ruby.
    "elsif", "ensure", "module", "redo", "rescue", "retry", "unless", "when",
    // PHP.
    "callable", "echo", "elseif", "enddeclare", "endfor", "endforeach", "endswitch", "endwhile",
    "include_once", "insteadof", "isset", "require", "require_once", "unset",
    // Kotlin.
    "companion", "fun", "lateinit", "suspend", "typealias", "vararg", "reified", "Int", "Long",
    "Short", "Byte", "Char", "Float", "Double", "Unit",
    // Swift.
    "associatedtype", "deinit", "fileprivate", "guard", "indirect", "inout", "nonmutating",
    "precedencegroup", "rethrows", "subscript", "weak", "unowned", "Bool", "Character", "Int8",
    "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    // Scala.
    "forSome", "given", "Any", "AnyRef", "Nothing",
    // Haskell.
    "deriving", "infix", "infixl", "infixr", "newtype", "qualified",
    // Perl.
    "bless", "local", "my", "our", "sub",
    // Shell.
    "esac", "fi",
    // SQL, as it stands in files of its own.
    "ALTER", "AND", "AS", "BETWEEN", "BY", "CASE", "CREATE", "DELETE", "DISTINCT", "DROP", "ELSE",
    "EXISTS", "FROM", "GROUP", "HAVING", "IN", "INNER", "INSERT", "INTO", "IS", "JOIN", "LEFT",
    "LIKE", "LIMIT", "NOT", "ON", "OR", "ORDER", "OUTER", "PRIMARY", "REFERENCES", "RIGHT",
    "SELECT", "SET", "TABLE", "THEN", "UNION", "UPDATE", "VALUES", "WHEN", "WHERE", "WITH",
    "INTEGER", "VARCHAR",
];

/// Longest keyword, in bytes; none is shorter than two.
pub(super) const LONGEST: usize = 16;

/// Hashes of keywords that fall into one place of the table.
const WAYS: usize = 4;
/// Places in the table: a power of two, so many that no place overflows.
const PLACES: usize = 1024;

/// The hashes of all keywords, to be asked without comparing words: two words have the same
/// hash as rarely as two shingles.
pub(super) struct KeywordTable {
    places: Box<[[u64; WAYS]]>,
}

impl KeywordTable {
    pub(super) fn get() -> &'static Self {
        static TABLE: LazyLock<KeywordTable> = LazyLock::new(|| {
            let mut places = vec![[0; WAYS]; PLACES].into_boxed_slice();
            for word in KEYWORDS {
                let hash = token_hash(word.as_bytes());
                let place = &mut places[place_of(hash)];
                // The tests see to it that there is room for each.
                if let Some(free) = place.iter_mut().find(|known| **known == 0) {
                    *free = hash;
                }
            }
            KeywordTable { places }
        });
        &TABLE
    }

    /// Whether this is the hash of a keyword.
    #[inline]
    pub(super) fn contains(&self, hash: u64) -> bool {
        let place = &self.places[place_of(hash)];
        place
            .iter()
            .fold(false, |is_in, &known| is_in | (known == hash))
    }
}

#[inline]
fn place_of(hash: u64) -> usize {
    hash as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_keyword_and_no_other_word_is_in_the_table() {
        let table = KeywordTable::get();
        let words: HashSet<&str> = KEYWORDS.iter().copied().collect();
        assert_eq!(words.len(), KEYWORDS.len());
        for word in KEYWORDS {
            assert!(table.contains(token_hash(word.as_bytes())), "{word}");
            assert!((2..=LONGEST).contains(&word.len()), "{word}");
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            assert!(word.chars().all(is_word), "{word}");
            for other in [format!("{word}x1"), format!("__{word}")] {
                assert!(!table.contains(token_hash(other.as_bytes())), "{other}");
            }
        }
        for name in ["x", "next", "data", "main", "println", "length", "IF"] {
            assert!(!table.contains(token_hash(name.as_bytes())), "{name}");
        }
    }
}
