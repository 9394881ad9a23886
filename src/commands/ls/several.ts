import type { Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { readEachStore } from '../../cli/several-stores.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { groupsOf } from '../../ops/groups.ts'
import { type SummarizedStream, summaries } from '../../ops/summaries.ts'
import { listedBy } from './group-selection.ts'
import { needsLists, writeGroups } from './groups.ts'
import { momentOf, storeAt } from './moment.ts'
import type { LsOptions } from './options.ts'
import { type ListedStore, withListFormat } from './output.ts'
import { BY_NAME, truncatedText } from './pages.ts'
import { rankingOf } from './ranking.ts'

interface SeveralOptions extends LsOptions {
  readonly contexts: readonly string[]
}

/** Lists or groups the streams of several contexts together. A store that fails is reported, and the others are shown. */
export async function listSeveral(
  options: SeveralOptions,
  limit: number,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const problems =
    options.groupBy === undefined
      ? await listTogether(options, limit, output, runtime)
      : await groupTogether(options, options.groupBy, limit, output, runtime)
  const [first, ...others] = problems
  if (first === undefined) return undefined
  if (problems.length === options.contexts.length && others.length === 0) return first
  for (const each of problems) await tellProblem(each, options, runtime)
  return problem('batch-incomplete', `${problems.length} of ${counted(options.contexts.length, 'store')} not listed`, {
    hint: 'The streams of all other stores were listed.',
  })
}

async function listTogether(
  options: SeveralOptions,
  limit: number,
  output: Output,
  runtime: Runtime,
): Promise<readonly Problem[]> {
  const { output: format = 'table', fields, sort = BY_NAME } = options
  const unlisted: Problem[] = []
  const page = {
    store: options.contexts.join(', '),
    nowMs: runtime.nowMs(),
    command: listedBy(options, runtime.argv),
    notes: () => unlisted.map(({ message }) => `not listed: ${message}`),
  }
  return withListFormat({ format, store: undefined, page, ...(fields && { fields }) }, output, async list => {
    const ranking = rankingOf(sort, limit, list.row)
    const problems = await listEach(options, runtime, (page, place) =>
      ranking.add(page, item => list.row(item, place), options.contexts.indexOf(place.name)),
    )
    unlisted.push(...problems)
    const rows = ranking.rows()
    if (rows.length > 0) await list.write(rows)
    const tally = { shown: rows.length, seen: ranking.seen, exact: problems.length === 0 }
    await list.end(tally)
    if (tally.seen === 0) await output.say(nothingIn(options))
    else if (tally.seen > tally.shown) await output.say(truncatedText(tally, format === 'ndjson' || format === 'csv'))
    return problems
  })
}

async function groupTogether(
  options: SeveralOptions,
  by: NonNullable<LsOptions['groupBy']>,
  limit: number,
  output: Output,
  runtime: Runtime,
): Promise<readonly Problem[]> {
  const groups = groupsOf(by, filterOf(options, momentOf(options, runtime)))
  const problems = await listEach(options, runtime, (page, { store, name }) => groups.add(page, store.nowMs(), name))
  const nothing = async () => nothingIn(options)
  const store = options.contexts.join(', ')
  const notes = problems.map(({ message }) => `not listed: ${message}`)
  await writeGroups(options, { by, groups, limit, nowMs: runtime.nowMs(), store, notes, nothing }, output, runtime)
  return problems
}

function nothingIn({ contexts }: SeveralOptions): string {
  return `nothing matches in ${contexts.join(', ')}`
}

/** Returns the problems of the stores that failed. */
async function listEach(
  options: SeveralOptions,
  runtime: Runtime,
  add: (page: readonly SummarizedStream[], place: ListedStore) => void,
): Promise<readonly Problem[]> {
  const filter = filterOf(options, momentOf(options, runtime)) ?? {}
  const outcomes = await readEachStore(options.contexts, options, runtime, async ({ name, open }) => {
    const store = await storeAt(options, await open(), runtime)
    const query = { signal: runtime.signal, wholeLists: options.groupBy !== undefined && needsLists(options.groupBy) }
    for await (const page of summaries(store, filter, query)) add(page, { name, store })
  })
  return outcomes.flatMap(one =>
    one.kind === 'done' ? [] : [{ ...one.problem, message: `${one.name}: ${one.problem.message}` }],
  )
}
