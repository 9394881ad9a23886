import { errorProblem } from '../../cli/error-problem.ts'
import { missingEventProblem, missingProblem } from '../../cli/outcome-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem, UsageError } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { readStream, type StreamView } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { levelsOf, type ShowCommandOptions } from './options.ts'
import { differenceOf, printDifferences, printPictures, showXml } from './print.ts'
import { findVersion, isProblem, type Picture, pictureAt, pictureNow } from './snapshot.ts'

/**
 * Shows one or several streams. If a stream or the requested version is missing, nothing is printed. Unreadable
 * documents are reported, and the others still shown.
 */
export async function showStreams(options: ShowCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  checkOptions(options, runtime)
  const output = await openOutput(options, runtime, options.output === 'html' ? 'utc' : 'relative')
  const select = options.select === undefined ? undefined : await selector(options.select)
  const names = [...new Set(options.streams)]
  const store = await openStoreFor(options, runtime, output)
  if (options.watch) {
    const { watchShown } = await import('./watch.ts')
    await watchShown(names, select, options, store, output, runtime)
    return undefined
  }
  if (options.data !== undefined) return showData(names[0] ?? '', options.data, options, store, output, runtime)
  if (options.output === 'xml' && select === undefined) {
    return showXml(names[0] ?? '', options.leaseId, store, output, runtime)
  }
  const read = await readViews(names, store, runtime)
  if (isProblem(read)) return read
  const problem = await print(read, select, { ...options, streams: names }, store, output)
  return problem ?? (await reportUnreadable(read, options, runtime))
}

async function showData(
  stream: string,
  event: string,
  options: ShowCommandOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { printContent } = await import('../event/data.ts')
  const view = await readStream(store, stream, runtime.signal)
  if (view === undefined) return missingProblem(stream)
  const found = view.stream.find(event)
  if (found === undefined) return missingEventProblem(stream, event)
  return printContent(store, view, found, undefined, options.output, output, runtime)
}

async function selector(expression: string) {
  const { selectorOf } = await import('./select.ts')
  return selectorOf(expression)
}

async function print(
  { views, unreadable }: ReadViews,
  select: Awaited<ReturnType<typeof selector>> | undefined,
  options: ShowCommandOptions,
  store: StreamStore,
  output: Output,
): Promise<Problem | undefined> {
  const { output: format, must = false } = options
  const several = options.streams.length > 1
  if (options.diff !== undefined) return printDiffs(views, options, output)
  const pictures: Picture[] = []
  for (const view of views) {
    const picture = pictureOf(view, options, output)
    if (isProblem(picture)) return picture
    pictures.push(picture)
  }
  if (format === 'html') {
    const { printPage } = await import('./page.ts')
    await printPage(pictures, unreadable, store, output)
    return undefined
  }
  if (select === undefined)
    return printPictures(pictures, format, several, output, levelsOf(options)).then(() => undefined)
  const { printSelected } = await import('./select.ts')
  return printSelected(pictures, select, { format, several, must }, output)
}

function pictureOf(view: StreamView, { at }: ShowCommandOptions, { time }: Output): Picture | Problem {
  if (at === undefined) return pictureNow(view)
  const found = findVersion(view, at, '--at', time)
  return isProblem(found) ? found : pictureAt(view, found)
}

async function printDiffs(
  views: readonly StreamView[],
  { diff, at, output: format, streams }: ShowCommandOptions,
  output: Output,
): Promise<Problem | undefined> {
  const all: ReturnType<typeof differenceOf>[] = []
  for (const view of views) {
    const from = diff && findVersion(view, diff, '--diff', output.time)
    const to = at && findVersion(view, at, '--at', output.time)
    if (from === undefined) continue
    if (isProblem(from)) return from
    if (to !== undefined && isProblem(to)) return to
    all.push(differenceOf(view, from, to))
  }
  await printDifferences(all, format, streams.length > 1, output)
  return undefined
}

/** A single unreadable document is the problem of the command; several are reported one by one first. */
async function reportUnreadable(
  read: ReadViews,
  options: ShowCommandOptions,
  runtime: Runtime,
): Promise<Problem | undefined> {
  if (read.unreadable.length > 1) for (const one of read.unreadable) await tellProblem(one, options, runtime)
  return unreadableProblem(read)
}

/** `--data` prints bytes of one event as they are now, and nothing else. */
function checkDataOptions({ output, at, diff, select, watch, streams }: ShowCommandOptions): void {
  const others = Object.entries({ '--at': at, '--diff': diff, '--select': select, '-w': watch })
  const clash = others.find(([, value]) => value !== undefined)?.[0]
  if (clash !== undefined) throw new UsageError(`--data does not go with ${clash}`)
  if (new Set(streams).size > 1) throw new UsageError('--data shows only one stream', { hint: 'Give one stream name.' })
  if (output !== undefined && output !== 'json') {
    throw new UsageError(`--data does not go with -o ${output}`, {
      hint: 'It prints the bytes, or with -o json a document.',
    })
  }
}

/** Levels are those of a tree. */
function checkDepth({ output = 'tree', select, diff, data }: ShowCommandOptions): void {
  const clash = Object.entries({ '--select': select, '--diff': diff, '--data': data }).find(([, value]) => value)?.[0]
  if (clash !== undefined) throw new UsageError(`--depth does not go with ${clash}`)
  if (output !== 'tree' && output !== 'timeline')
    throw new UsageError(`--depth does not go with -o ${output}`, { hint: 'It takes -o tree or timeline.' })
}

/** @throws UsageError if flags contradict each other */
function checkOptions(options: ShowCommandOptions, runtime: Runtime): void {
  if (options.depth !== undefined) checkDepth(options)
  const { output = 'tree', at, diff, select, must, watch, interval, streams } = options
  if (output === 'xml' && new Set(streams).size > 1)
    throw new UsageError('-o xml shows only one stream', { hint: 'Give one stream name.' })
  if (options.leaseId !== undefined && (output !== 'xml' || select !== undefined || options.data !== undefined))
    throw new UsageError('--lease-id needs -o xml: it is for reading the document that event edit writes back')
  if (options.data !== undefined) checkDataOptions(options)
  if (must && select === undefined) throw new UsageError('--must needs --select')
  if (interval !== undefined && !watch) throw new UsageError('--interval needs -w')
  if (at !== undefined && output === 'xml')
    throw new UsageError('--at does not go with -o xml: only the current document is stored', {
      hint: 'Use -o json or -o yaml.',
    })
  if (select !== undefined && output === 'html')
    throw new UsageError('--select does not go with -o html: a page has the whole stream', {
      hint: 'Use -o tree, table, timeline, json, yaml or mermaid.',
    })
  if (diff !== undefined && select !== undefined) throw new UsageError('--diff does not go with --select')
  if (diff !== undefined && !['tree', 'table', 'json', 'yaml'].includes(output))
    throw new UsageError(`--diff does not go with -o ${output}`, { hint: 'It takes -o table, json or yaml.' })
  if (watch) checkWatch(options, output, runtime)
}

function checkWatch({ at, must }: ShowCommandOptions, output: string, { stdout, env }: Runtime): void {
  if (!stdout.isTty || env.TERM === 'dumb')
    throw new UsageError('-w redraws the screen, and standard output is not a terminal that can', {
      hint: 'tail -f prints each change as it happens; or run show in a loop.',
    })
  if (!['tree', 'table', 'timeline'].includes(output))
    throw new UsageError(`-w does not go with -o ${output}`, { hint: 'It takes -o tree, table or timeline.' })
  if (at !== undefined) throw new UsageError('-w does not go with --at: past versions do not change')
  if (must) throw new UsageError('-w does not go with --must', { hint: 'Use wait --for event=ID:STATUS.' })
}

/** The given streams, as far as they could be read. */
interface ReadViews {
  readonly views: readonly StreamView[]
  /** Problems of documents that cannot be read. */
  readonly unreadable: readonly Problem[]
}

/** Reads all given streams before anything is shown; a missing one is a problem. @throws the store's faults */
async function readViews(names: readonly string[], store: StreamStore, runtime: Runtime): Promise<ReadViews | Problem> {
  const views: StreamView[] = []
  const unreadable: Problem[] = []
  for (const name of names) {
    try {
      const view = await readStream(store, name, runtime.signal)
      if (view === undefined) return missingProblem(name)
      views.push(view)
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error
      unreadable.push(errorProblem(error, runtime))
    }
  }
  return { views, unreadable }
}

/** The problem for unreadable documents; several were reported one by one before. `undefined` if all were read. */
function unreadableProblem({ views, unreadable }: ReadViews): Problem | undefined {
  const [only, ...others] = unreadable
  if (only === undefined || others.length === 0) return only
  const all = views.length + unreadable.length
  const isStored = unreadable.every(({ code }) => code === 'bad-document')
  return problem('bad-document', `${unreadable.length} of ${all} streams cannot be read`, {
    ...(isStored ? { hint: 'show -o xml prints each as stored.' } : {}),
  })
}
