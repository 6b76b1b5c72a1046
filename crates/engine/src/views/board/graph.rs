//! Dependency graph of tasks.

use std::collections::{HashMap, HashSet, VecDeque};

use store::{BoardCard, BoardFilter, Tx};
use wire::tasks::{GraphEdge, GraphNode, TaskGraph};

use super::BoardRequest;
use crate::core::error::ToolError;
use crate::views::service::Views;

/// Tasks in the graph.
const MAX_GRAPH_TASKS: usize = 500;
/// Dependants read per task.
const BESIDE: u32 = 50;

fn graph_node(card: &BoardCard) -> GraphNode {
    GraphNode {
        number: card.number,
        title: card.title.clone(),
        state: card.state,
        column: card.column(),
        priority: card.priority,
    }
}

impl Views {
    /// The tasks that wait for others or are waited for, at most 500.
    pub async fn board_graph(&self, request: BoardRequest) -> Result<TaskGraph, ToolError> {
        self.store.scan(move |tx| graph(tx, &request.filter(tx)?)).await
    }
}

fn graph(tx: &Tx<'_>, filter: &BoardFilter) -> Result<TaskGraph, ToolError> {
    let most = u32::try_from(MAX_GRAPH_TASKS).unwrap_or(u32::MAX);
    let (seeds, mut truncated) = if filter.words.is_empty() {
        let seeds = tx.board_linked(filter, most + 1)?;
        let more = seeds.len() > MAX_GRAPH_TASKS;
        (seeds, more)
    } else {
        let found = tx.board_search(filter)?;
        (found.cards, found.truncated)
    };
    let mut order: Vec<i64> = seeds.iter().take(MAX_GRAPH_TASKS).map(|card| card.number).collect();
    let mut cards: HashMap<i64, BoardCard> =
        seeds.into_iter().take(MAX_GRAPH_TASKS).map(|card| (card.number, card)).collect();
    // Outwards from the open ones, so that what is nearest is there if not all of it fits.
    let mut open: VecDeque<i64> = order.iter().copied().collect();
    let mut needs: HashMap<i64, Vec<i64>> = HashMap::new();
    while let Some(number) = open.pop_front() {
        let before = tx.task_needs(number)?;
        let beside = tx.task_needed_by(number, BESIDE)?;
        for next in before.iter().chain(&beside) {
            if cards.contains_key(next) {
                continue;
            }
            if cards.len() >= MAX_GRAPH_TASKS {
                truncated = true;
                break;
            }
            if let Some(card) = tx.board_card(*next)? {
                // What is done is shown beside what waited for it, and leads no further.
                if !card.state.is_closed() {
                    open.push_back(*next);
                }
                order.push(*next);
                cards.insert(*next, card);
            }
        }
        needs.insert(number, before);
    }
    let known: HashSet<i64> = cards.keys().copied().collect();
    let mut edges = Vec::new();
    for to in &order {
        let before = match needs.remove(to) {
            Some(before) => before,
            None => tx.task_needs(*to)?,
        };
        let inside = before.into_iter().filter(|from| known.contains(from));
        edges.extend(inside.map(|from| GraphEdge { from, to: *to }));
    }
    let nodes = order.iter().filter_map(|number| cards.get(number)).map(graph_node).collect();
    Ok(TaskGraph { nodes, edges, truncated })
}
