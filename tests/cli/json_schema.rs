//! JSON held against a JSON schema (draft 7): the keywords that the schema of SARIF has. One that
//! is not known is an error, so that nothing is passed over.

use regex::Regex;
use serde_json::Value;

/// What is wrong, each with its place; nothing if it is as the schema has it.
pub fn errors(value: &Value, schema: &Value) -> Vec<String> {
    let mut check = Check {
        root: schema,
        errors: Vec::new(),
    };
    check.value(value, schema, "");
    check.errors
}

struct Check<'a> {
    root: &'a Value,
    errors: Vec<String>,
}

impl Check<'_> {
    fn value(&mut self, value: &Value, schema: &Value, at: &str) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            let is_kept = match keyword.as_str() {
                // "format" is a remark unless a validator chooses otherwise.
                "$schema" | "$id" | "title" | "description" | "default" | "definitions"
                | "format" => true,
                // In draft 7, what stands beside a reference does not count; here it does.
                "$ref" => {
                    let path = rule.as_str().unwrap().strip_prefix('#').unwrap();
                    let schema = self.root.pointer(path).expect("references lead somewhere");
                    self.value(value, schema, at);
                    true
                }
                "type" => has_type(value, rule.as_str().unwrap()),
                "enum" => rule.as_array().unwrap().contains(value),
                "required" => {
                    let names = rule.as_array().unwrap().iter();
                    let is_there = |name: &Value| value.get(name.as_str().unwrap()).is_some();
                    !value.is_object() || names.clone().all(is_there)
                }
                "properties" => {
                    for (name, schema) in rule.as_object().unwrap() {
                        if let Some(value) = value.get(name) {
                            self.value(value, schema, &format!("{at}/{name}"));
                        }
                    }
                    true
                }
                "additionalProperties" => self.additional(value, schema, rule, at),
                "items" => {
                    for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                        self.value(value, rule, &format!("{at}/{index}"));
                    }
                    true
                }
                "minItems" => of_list(value, |list| list.len() as u64 >= rule.as_u64().unwrap()),
                "uniqueItems" => of_list(value, |list| {
                    let is_new = |(index, item): (usize, &Value)| !list[..index].contains(item);
                    rule == false || list.iter().enumerate().all(is_new)
                }),
                "minimum" => of_number(value, |number| number >= rule.as_f64().unwrap()),
                "maximum" => of_number(value, |number| number <= rule.as_f64().unwrap()),
                "pattern" => {
                    let pattern = Regex::new(rule.as_str().unwrap()).unwrap();
                    value.as_str().is_none_or(|text| pattern.is_match(text))
                }
                "anyOf" => self.fitting(value, rule) >= 1,
                "oneOf" => self.fitting(value, rule) == 1,
                unknown => panic!("{unknown}: what is that?"),
            };
            if !is_kept {
                self.errors.push(format!("{at}: {keyword} {rule}: {value}"));
            }
        }
    }

    fn additional(&mut self, value: &Value, schema: &Value, rule: &Value, at: &str) -> bool {
        let named = |name: &str| schema["properties"].get(name).is_some();
        let others = value.as_object().into_iter().flatten();
        let mut is_kept = true;
        for (name, value) in others.filter(|(name, _)| !named(name)) {
            match rule {
                Value::Bool(is_allowed) => is_kept &= is_allowed,
                schema => self.value(value, schema, &format!("{at}/{name}")),
            }
        }
        is_kept
    }

    /// How many of several schemas fit.
    fn fitting(&self, value: &Value, schemas: &Value) -> usize {
        let fits = |schema: &&Value| {
            let mut check = Check {
                root: self.root,
                errors: Vec::new(),
            };
            check.value(value, schema, "");
            check.errors.is_empty()
        };
        schemas.as_array().unwrap().iter().filter(fits).count()
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "null" => value.is_null(),
        unknown => panic!("{unknown}: what is that?"),
    }
}

fn of_list(value: &Value, is_kept: impl FnOnce(&[Value]) -> bool) -> bool {
    value.as_array().is_none_or(|list| is_kept(list))
}

fn of_number(value: &Value, is_kept: impl FnOnce(f64) -> bool) -> bool {
    value.as_f64().is_none_or(is_kept)
}
