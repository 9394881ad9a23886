import { missingProblem } from '../../cli/outcome-problem.ts'
import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { type Selection, selected } from '../../ops/selection.ts'
import type { EventStore } from '../../store/store.ts'
import { visibleName, visibleText } from '../../stream/text.ts'
import { ownText } from '../../util/strings.ts'

/** The streams of a selection by name, or why there is nothing to begin with. */
export type SelectedNames =
  | { readonly kind: 'names'; readonly names: AsyncIterable<string> }
  | { readonly kind: 'missing'; readonly problem: Problem }

/** Names that were given are all looked up first: if one is missing nothing is begun. A filter is listed as it goes. */
export async function selectNames(
  store: EventStore,
  selection: Selection,
  { skipMissing }: { readonly skipMissing?: boolean },
  output: Output,
  { signal }: Runtime,
): Promise<SelectedNames> {
  if (selection.kind === 'filter') return { kind: 'names', names: listed(store, selection, output, signal) }
  const names: string[] = []
  const missing: string[] = []
  for await (const page of selected(store, selection, signal)) {
    names.push(...page.found.map(({ listed: { name } }) => name))
    missing.push(...page.missing)
  }
  const [first, ...others] = missing
  if (first !== undefined && !(skipMissing && names.length > 0)) {
    return { kind: 'missing', problem: missingOf(first, others, names.length + missing.length > 1) }
  }
  for (const name of missing) await output.say(`skipped: there is no stream ${visibleName(name)}`)
  return { kind: 'names', names: each(names) }
}

const MOST_NAMED = 20

function missingOf(first: string, others: readonly string[], many: boolean): Problem {
  const what = missingProblem(first)
  if (!many) return what
  const named = others.slice(0, MOST_NAMED).map(name => ['also', `there is no stream ${name}`] as const)
  const more = others.length - named.length
  return {
    ...what,
    facts: more > 0 ? [...named, ['also', `${more} more`]] : named,
    hint: 'Nothing was exported. --skip-missing goes on with the others.',
  }
}

async function* listed(store: EventStore, selection: Selection, output: Output, signal: AbortSignal) {
  let any = false
  for await (const { found } of selected(store, selection, signal)) {
    for (const { listed: row } of found) yield ownText(row.name)
    any ||= found.length > 0
  }
  if (any) return
  await output.say(`no such streams in ${visibleText(store.address)}`)
}

async function* each(names: readonly string[]) {
  yield* names
}
