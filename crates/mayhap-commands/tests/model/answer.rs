//! What the model answers, and how it stands on the wire.

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Ok,
    Error(&'static str),
    Number(u64),
    Flag(bool),
    /// -1 in RESP2, false in RESP3.
    Refused,
    Minus(u64),
    Text(String),
    Name(&'static str),
    Bytes(Vec<u8>),
    Null,
    Array(Vec<Answer>),
    Map(Vec<(&'static str, Answer)>),
}

impl Answer {
    pub(crate) fn wire(&self, resp3: bool) -> Vec<u8> {
        let line = |text: String| format!("{text}\r\n").into_bytes();
        match self {
            Self::Ok => line("+OK".to_owned()),
            Self::Error(text) => line(format!("-{text}")),
            Self::Number(number) => line(format!(":{number}")),
            Self::Minus(number) => line(format!(":-{number}")),
            Self::Flag(true) => line(if resp3 { "#t" } else { ":1" }.to_owned()),
            Self::Flag(false) => line(if resp3 { "#f" } else { ":0" }.to_owned()),
            Self::Refused => line(if resp3 { "#f" } else { ":-1" }.to_owned()),
            Self::Text(text) => Self::Bytes(text.as_bytes().to_vec()).wire(resp3),
            Self::Name(name) => line(format!("+{name}")),
            Self::Bytes(bytes) => {
                [line(format!("${}", bytes.len())), bytes.clone(), b"\r\n".to_vec()].concat()
            }
            Self::Null => line(if resp3 { "_" } else { "$-1" }.to_owned()),
            Self::Array(answers) => {
                let mut wire = line(format!("*{}", answers.len()));
                answers.iter().for_each(|answer| wire.extend(answer.wire(resp3)));
                wire
            }
            Self::Map(pairs) => {
                let mut wire =
                    line(if resp3 { format!("%{}", pairs.len()) } else { format!("*{}", pairs.len() * 2) });
                for (name, value) in pairs {
                    wire.extend(Self::Name(name).wire(resp3));
                    wire.extend(value.wire(resp3));
                }
                wire
            }
        }
    }
}
