use super::Desk;
use crate::commands::table;

#[test]
fn commands_are_told() {
    let mut desk = Desk::new();
    let count = table().len();
    assert_eq!(desk.ask("COMMAND COUNT"), format!(":{count}"));
    assert!(desk.ask("COMMAND").starts_with(&format!("*{count} *10 $10 bf.reserve :-4 ")));
    assert!(desk.ask("COMMAND INFO").starts_with(&format!("*{count} *10 ")));
    assert!(desk.ask("COMMAND DOCS").starts_with(&format!("*{} $10 bf.reserve ", count * 2)));
    assert!(desk.ask("COMMAND LIST").starts_with(&format!("*{count} $10 bf.reserve ")));
    desk.play(&[
        (
            "COMMAND INFO bf.add foo",
            "*2 *10 $6 bf.add :3 *3 +write +denyoom +fast :1 :1 :1 *3 +@write +@bloom +@fast *0 \
             *1 *6 $5 flags *3 +RW +access +update $12 begin_search *4 $4 type $5 index $4 spec *2 $5 index :1 \
             $9 find_keys *4 $4 type $5 range $4 spec *6 $7 lastkey :0 $7 keystep :1 $5 limit :0 *0 $-1",
        ),
        (
            "COMMAND INFO client|id",
            "*1 *10 $9 client|id :2 *3 +noscript +loading +stale :0 :0 :0 *2 +@slow +@connection *0 *0 *0",
        ),
        ("COMMAND COUNT x", "-ERR wrong number of arguments for 'command|count' command"),
        ("COMMAND FOO", "-ERR unknown subcommand 'FOO'. Try COMMAND HELP."),
        ("COMMAND DOCS none", "*0"),
        (
            "COMMAND DOCS getbit",
            "*2 $6 getbit *10 $7 summary $12 Tells a bit. $5 since $5 2.2.0 $5 group $6 bitmap $10 complexity \
             $30 O(log N) for N bits that are 1 $9 arguments *2 *8 $4 name $3 key $4 type $3 key $12 display_text \
             $3 key $14 key_spec_index :0 *6 $4 name $6 offset $4 type $7 integer $12 display_text $6 offset",
        ),
    ]);
    let docs = desk.ask("COMMAND DOCS CLIENT");
    assert!(docs.contains("$11 subcommands *") && docs.contains("$9 client|id "), "{docs}");
    assert!(desk.ask("COMMAND INFO client").contains("*10 $9 client|id "));
    assert_eq!(desk.ask("HELLO 3").chars().next(), Some('%'));
    assert!(desk.ask("COMMAND DOCS getbit").starts_with("%1 $6 getbit %5 $7 summary "));
    assert!(desk.ask("COMMAND INFO bf.add").contains("~3 +write"));
}

#[test]
fn commands_are_listed_by_kind() {
    Desk::new().play(&[
        ("COMMAND LIST FILTERBY PATTERN *bit", "*2 $6 setbit $6 getbit"),
        ("COMMAND LIST FILTERBY PATTERN CLIENT|G*", "*2 $14 client|getname $15 client|getredir"),
        ("COMMAND LIST FILTERBY ACLCAT bitmap", "*4 $6 setbit $6 getbit $8 bitcount $6 bitpos"),
        ("COMMAND LIST FILTERBY ACLCAT none", "*0"),
        ("COMMAND LIST FILTERBY MODULE bf", "*0"),
        ("COMMAND LIST FILTERBY FOO bar", "-ERR syntax error"),
        ("COMMAND LIST FILTERBY", "-ERR syntax error"),
    ]);
}

#[test]
fn the_keys_of_a_command_are_found() {
    Desk::new().play(&[
        ("COMMAND GETKEYS", "-ERR wrong number of arguments for 'command|getkeys' command"),
        ("COMMAND GETKEYS foo bar", "-ERR Invalid command specified"),
        ("COMMAND GETKEYS ping x", "-ERR The command has no key arguments"),
        ("COMMAND GETKEYS bf.add a", "-ERR Invalid number of arguments specified for command"),
        ("COMMAND GETKEYS bf.add a x", "*1 $1 a"),
        ("COMMAND GETKEYS del a b c", "*3 $1 a $1 b $1 c"),
        ("COMMAND GETKEYS rename a b", "*2 $1 a $1 b"),
        ("COMMAND GETKEYS object encoding a", "*1 $1 a"),
        ("COMMAND GETKEYS memory usage a", "*1 $1 a"),
    ]);
}

/// What redis-cli and client libraries rely on, for every command there is.
#[test]
fn every_command_describes_itself() {
    for (place, spec) in table().specs().enumerate() {
        for spec in std::iter::once(spec).chain(table().subcommands(place).iter().map(|sub| &sub.spec)) {
            let name = spec.name;
            assert!(spec.arity != 0 && spec.summary.ends_with('.'), "{name}: {}", spec.summary);
            assert!(!spec.complexity.is_empty() && spec.since.split('.').count() == 3, "{name}");
            assert!(!spec.group.is_empty(), "{name}");
            // A fixed number of words is the number of arguments that must be there.
            let depth = name.split('|').count();
            if spec.arity > 0 && spec.arguments.iter().all(|one| one.token.is_none() && !one.multiple) {
                let words = depth + spec.arguments.len();
                let most = usize::try_from(spec.arity).unwrap();
                assert!(words == most || name == "CLIENT|SETINFO", "{name}: {words} and {most}");
            }
            assert_eq!(spec.keys.first > 0, has_key(spec.arguments), "{name}");
        }
    }
}

fn has_key(arguments: &[mayhap_commands::spec::Argument]) -> bool {
    use mayhap_commands::spec::ArgumentKind;
    arguments.iter().any(|one| match one.kind {
        ArgumentKind::Key => true,
        ArgumentKind::Block(parts) | ArgumentKind::OneOf(parts) => has_key(parts),
        _ => false,
    })
}
