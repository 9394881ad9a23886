import { type Output, openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { tellProblem } from '../../cli/tell-problem.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import { checkOptions } from './check-options.ts'
import type { ShowOptions } from './options.ts'
import { printPictures } from './print.ts'
import { type ReadViews, readViews, unreadableProblem } from './read-views.ts'
import { findVersion, isProblem, type Picture, pictureAt, pictureNow } from './snapshot.ts'

/**
 * Shows one or several streams; nothing is printed if one of them, or the version asked for, is missing. Documents that
 * cannot be read are told, the others shown.
 */
export async function showStreams(options: ShowOptions, runtime: Runtime): Promise<Problem | undefined> {
  checkOptions(options, runtime)
  const output = await openOutput(options, runtime)
  const select = options.select === undefined ? undefined : await selector(options.select)
  const names = [...new Set(options.streams)]
  const store = await openStoreFor(options, runtime, output)
  if (options.watch) {
    const { watchShown } = await import('./watch.ts')
    await watchShown(names, select, options, store, output, runtime)
    return undefined
  }
  if (options.output === 'xml' && select === undefined) {
    const { showXml } = await import('./xml.ts')
    return showXml(names[0] ?? '', store, output, runtime)
  }
  const read = await readViews(names, store, runtime)
  if (isProblem(read)) return read
  const problem = await print(read.views, select, { ...options, streams: names }, output)
  return problem ?? (await unreadable(read, options, runtime))
}

async function selector(expression: string) {
  const { selectorOf } = await import('./select.ts')
  return selectorOf(expression)
}

async function print(
  views: readonly StreamView[],
  select: Awaited<ReturnType<typeof selector>> | undefined,
  options: ShowOptions,
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
  if (select === undefined) return printPictures(pictures, format, several, output).then(() => undefined)
  const { printSelected } = await import('./select.ts')
  return printSelected(pictures, select, { format, several, must }, output)
}

function pictureOf(view: StreamView, { at }: ShowOptions, { time }: Output): Picture | Problem {
  if (at === undefined) return pictureNow(view)
  const found = findVersion(view, at, '--at', time)
  return isProblem(found) ? found : pictureAt(view, found)
}

async function printDiffs(
  views: readonly StreamView[],
  { diff, at, output: format, streams }: ShowOptions,
  output: Output,
): Promise<Problem | undefined> {
  const { differenceOf, printDifferences } = await import('./print-diff.ts')
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

/** One unreadable document is the command's problem; of several each is told first. */
async function unreadable(read: ReadViews, options: ShowOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (read.unreadable.length > 1) for (const one of read.unreadable) await tellProblem(one, options, runtime)
  return unreadableProblem(read)
}
