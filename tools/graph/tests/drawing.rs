//! The drawing of a system of the size of `demo`: everything is in it, nothing overlaps.
#![forbid(unsafe_code)]

use cairn_graph::{Export, Graph, Import, Node, draw};

/// Instances with their priority, exports, and imports.
const SYSTEM: [(&str, u8, &[&str], &[&str]); 12] = [
    ("scheduler", 255, &["threads", "semaphores", "faults"], &[]),
    ("interrupts", 254, &["control"], &["scheduler.semaphores"]),
    ("memory", 240, &["pages", "sections"], &["scheduler.semaphores", "scheduler.threads"]),
    ("portals", 230, &["portals"], &["memory.pages", "scheduler.semaphores", "names.names"]),
    ("names", 220, &["names"], &["scheduler.semaphores"]),
    (
        "supervisor",
        250,
        &["instances"],
        &[
            "scheduler.faults",
            "scheduler.threads",
            "memory.pages",
            "memory.sections",
            "portals.portals",
            "names.names",
            "console.text",
        ],
    ),
    ("clock", 210, &["clock"], &["scheduler.threads", "scheduler.semaphores", "names.names"]),
    (
        "console",
        200,
        &["text"],
        &["scheduler.semaphores", "interrupts.control", "names.names", "clock.clock"],
    ),
    ("idle", 0, &[], &[]),
    (
        "shell",
        50,
        &[],
        &[
            "console.text",
            "supervisor.instances",
            "names.names",
            "memory.pages",
            "scheduler.threads",
            "clock.clock",
            "portals.portals",
            "echo.echo",
        ],
    ),
    ("echo", 60, &["echo"], &["console.text", "scheduler.semaphores"]),
    (
        "bench",
        40,
        &[],
        &[
            "console.text",
            "clock.clock",
            "scheduler.threads",
            "scheduler.semaphores",
            "echo.echo",
            "portals.portals",
            "names.names",
        ],
    ),
];

fn system() -> Graph {
    let find = |name: &str| SYSTEM.iter().position(|node| node.0 == name).unwrap();
    let mut nodes = Vec::new();
    for (number, (name, priority, exports, imports)) in SYSTEM.iter().enumerate() {
        let import = |text: &&str| {
            let (instance, export) = text.split_once('.').unwrap();
            let node = find(instance);
            Import {
                name: instance.to_owned(),
                interface: export[..1].to_uppercase() + &export[1..],
                specification: if node == 0 { "rp" } else { "np" }.to_owned(),
                node,
                export: SYSTEM[node].2.iter().position(|one| *one == export).unwrap(),
                alternatives: Vec::new(),
                may_open: false,
            }
        };
        let export = |name: &&str| Export {
            name: (*name).to_owned(),
            interface: name[..1].to_uppercase() + &name[1..],
        };
        nodes.push(Node {
            name: (*name).to_owned(),
            component: (*name).to_owned(),
            domain: number as u32 + 1,
            frame: None,
            role: (number < 6).then(|| (*name).to_owned()),
            priority: *priority,
            exports: exports.iter().map(export).collect(),
            imports: imports.iter().map(import).collect(),
            devices: if *name == "console" {
                vec!["serial@10000000".to_owned()]
            } else {
                Vec::new()
            },
            moves: false,
            equals: 0,
        });
    }
    Graph { title: "demo & friends".to_owned(), nodes }
}

/// Number after `key="` in `text`.
fn number(text: &str, key: &str) -> f64 {
    let from = text.find(&format!(" {key}=\"")).unwrap() + key.len() + 3;
    text[from..].split('"').next().unwrap().parse().unwrap()
}

/// Left, top, width, height of every box.
fn boxes(svg: &str) -> Vec<[f64; 4]> {
    rectangles(svg, "domain")
}

/// The same of every group of a class.
fn rectangles(svg: &str, class: &str) -> Vec<[f64; 4]> {
    let class = format!("<g class=\"{class}\"");
    let groups = svg.split(&class).skip(1);
    groups.map(|group| ["x", "y", "width", "height"].map(|key| number(group, key))).collect()
}

#[test]
fn every_instance_and_every_import_is_drawn() {
    let graph = system();
    let svg = draw(&graph);
    assert_eq!(boxes(&svg).len(), graph.nodes.len());
    let imports: usize = graph.nodes.iter().map(|node| node.imports.len()).sum();
    assert_eq!(svg.matches("<g class=\"portal\"").count(), imports);
    assert!(svg.contains("<title>shell.echo to echo.echo (np)</title>"), "{svg}");
    assert!(svg.contains("serial@10000000"));
    assert!(svg.contains("demo &amp; friends"));
    if let Ok(file) = std::env::var("CAIRN_GRAPH_FILE") {
        std::fs::write(file, svg).unwrap();
    }
}

#[test]
fn boxes_do_not_overlap_and_lie_inside() {
    let svg = draw(&system());
    let boxes = boxes(&svg);
    for (index, one) in boxes.iter().enumerate() {
        assert!(one[0] >= 0.0 && one[0] + one[2] <= number(&svg, "width"), "{one:?}");
        assert!(one[1] >= 0.0 && one[1] + one[3] <= number(&svg, "height"), "{one:?}");
        for other in &boxes[index + 1..] {
            let apart = |axis: usize| {
                one[axis] + one[axis + 2] <= other[axis]
                    || other[axis] + other[axis + 2] <= one[axis]
            };
            assert!(apart(0) || apart(1), "{one:?} and {other:?} overlap");
        }
    }
}

#[test]
fn a_frame_is_round_those_of_one_domain_and_nobody_else() {
    for framed in [&[0, 5, 9][..], &[10], &(0..12).collect::<Vec<usize>>()] {
        for pair in [&[][..], &[2, 7]] {
            let mut graph = system();
            for index in pair {
                graph.nodes[*index].frame = Some("domain 3".to_owned());
            }
            for index in framed {
                graph.nodes[*index].frame = Some("kernel domain".to_owned());
            }
            let svg = draw(&graph);
            let labels = ["domain 3", "kernel domain"];
            let labels = labels.into_iter().filter(|label| {
                graph.nodes.iter().any(|node| node.frame.as_deref() == Some(*label))
            });
            let labels: Vec<&str> = labels.collect();
            let (boxes, frames) = (boxes(&svg), rectangles(&svg, "frame"));
            assert_eq!(frames.len(), labels.len());
            for (frame, label) in frames.iter().zip(&labels) {
                assert!(svg.contains(&format!(">{label}</text>")));
                for (node, one) in graph.nodes.iter().zip(&boxes) {
                    let is_inside = (0..2).all(|axis| {
                        frame[axis] < one[axis]
                            && one[axis] + one[axis + 2] < frame[axis] + frame[axis + 2]
                    });
                    let is_apart = (0..2).any(|axis| {
                        one[axis] + one[axis + 2] < frame[axis]
                            || frame[axis] + frame[axis + 2] < one[axis]
                    });
                    let belongs = node.frame.as_deref() == Some(*label);
                    assert_eq!((is_inside, is_apart), (belongs, !belongs), "{}", node.name);
                }
                assert!(frame[1] > 36.0, "below the title");
                assert!(frame[1] + frame[3] < number(&svg, "height") - 66.0, "above the key");
            }
        }
    }
}

#[test]
fn what_else_serves_an_interface_is_counted_and_named() {
    let mut graph = system();
    graph.nodes[10].imports[0].alternatives = vec!["bench.text".to_owned(), "log.text".to_owned()];
    let svg = draw(&graph);
    assert!(svg.contains("console: Text np +2</text>"), "{svg}");
    assert!(svg.contains("(np); Text also served by bench.text, log.text</title>"), "{svg}");
}

#[test]
fn clients_stand_left_of_their_servers() {
    let graph = system();
    let boxes = boxes(&draw(&graph));
    for (node, left) in graph.nodes.iter().zip(&boxes) {
        for import in &node.imports {
            assert!(left[0] < boxes[import.node][0], "{} and {}", node.name, import.name);
        }
    }
}

#[test]
fn a_cycle_is_drawn_too() {
    let mut graph = system();
    graph.nodes[0].imports.push(Import { name: "back".to_owned(), node: 9, ..Import::default() });
    graph.nodes[9].exports.push(Export::default());
    let svg = draw(&graph);
    assert_eq!(
        svg.matches("<g class=\"portal\"").count(),
        draw(&system()).matches("<g class=\"portal\"").count() + 1
    );
    assert_eq!(boxes(&svg).len(), graph.nodes.len());
}

#[test]
fn what_may_be_opened_is_dashed() {
    let mut graph = system();
    assert!(!draw(&graph).contains("stroke-dasharray"));
    // The bench may open what the supervisor serves; its interface is called as its export.
    let opened = Import {
        name: "supervisor.instances".to_owned(),
        node: 5,
        may_open: true,
        ..Import::default()
    };
    graph.nodes[11].imports.push(opened);
    let svg = draw(&graph);
    assert_eq!(svg.matches("stroke-dasharray").count(), 1);
    assert!(svg.contains("<title>bench may open supervisor.instances</title>"), "{svg}");
    assert!(svg.contains(">may open supervisor.instances</text>"), "{svg}");
    assert!(boxes(&svg)[11][0] < boxes(&svg)[5][0], "an arrow leads to the right");
}

#[test]
fn equal_clients_share_a_box() {
    let mut graph = system();
    let bench = graph.nodes[11].clone();
    let boxes_before = boxes(&draw(&graph)).len();
    for number in 0..40 {
        let name = format!("client{number}");
        graph.nodes.push(Node { name, domain: 50 + number, priority: 30, ..bench.clone() });
    }
    let svg = draw(&graph);
    assert_eq!(boxes(&svg).len(), boxes_before + 1);
    assert!(svg.contains(">client ×40</text>") && svg.contains("40 domains, priority 30"), "{svg}");
    assert!(svg.contains("<title>shell.echo to echo.echo (np)</title>"), "{svg}");
    // Whoever is called keeps a box of its own.
    graph.nodes[12].exports.push(Export::default());
    graph.nodes[11].imports[0].node = 12;
    graph.nodes[11].imports[0].export = 0;
    let svg = draw(&graph);
    assert_eq!(boxes(&svg).len(), boxes_before + 2);
    assert!(svg.contains(">client0</text>") && svg.contains(">client ×39</text>"), "{svg}");
}

#[test]
fn the_smallest_systems_are_drawn() {
    assert!(draw(&Graph::default()).ends_with("</svg>\n"));
    let one = Graph { title: String::new(), nodes: vec![Node::default()] };
    assert_eq!(boxes(&draw(&one)).len(), 1);
}
