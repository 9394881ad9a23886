import type { GlobalOptions } from '../../cli/options.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { CommandFailed, type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import { requireSelection } from '../../cli/selection/read.ts'
import { checkMayChange, openStoreFor } from '../../cli/store.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { dataBeside } from '../../ops/event-data.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import { type Selection, selected } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { ownText } from '../../util/strings.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { missingProblemOf } from '../batch/plan.ts'
import { copyItems, openCopies } from '../transfer/copy.ts'
import type { TransferFlags } from '../transfer/flags.ts'
import { type Item, storeItem } from '../transfer/item.ts'
import { openReport } from '../transfer/report.ts'
import { documentOf, isCopied, type Loaded, load, unreadableOutcome } from './documents.ts'
import { exportToFolder } from './folder.ts'
import { type DocumentFormat, type ExportRequest, type ExportTarget, exportTarget, type Names } from './target.ts'
import { exportTraces } from './traces.ts'

export interface ExportOptions extends GlobalOptions, SelectionOptions, TransferFlags {
  /** A folder, a file or a store address. */
  readonly to?: string
  readonly endpoint?: string
  readonly skipMissing?: boolean
}

/** Exports streams. An export to files or to another store continues when the reader of stdout goes away. */
export async function exportStreams(options: ExportOptions, runtime: Runtime): Promise<Problem | undefined> {
  const target = exportTarget(options)
  const selection = await requireSelection(options, runtime)
  const { output: _, ...textOptions } = options
  const output = await openOutput(textOptions, runtime)
  const store = await openStoreFor(options, runtime, output)
  const names = await selectNames(store, selection, options, output, runtime)
  const request: ExportRequest = { store, names, options, output, runtime }
  if (!isStdout(target)) runtime.begin('writes')
  return exportTo(target, request)
}

function isStdout(target: ExportTarget): boolean {
  return target.kind === 'stdout' || (target.kind === 'traces' && target.to === undefined)
}

function exportTo(target: ExportTarget, request: ExportRequest): Promise<Problem | undefined> {
  switch (target.kind) {
    case 'stdout':
      return exportToStdout(target.format, request)
    case 'folder':
      return exportToFolder(target.path, target.format, request)
    case 'store':
      return exportToStore(target.address, request)
    case 'traces':
      return exportTraces(target, request)
    default:
      return target satisfies never
  }
}

/** Looks up all given names first, so that nothing is exported if one is missing; a filter is listed as it goes. @throws CommandFailed */
async function selectNames(
  store: StreamStore,
  selection: Selection,
  { skipMissing }: { readonly skipMissing?: boolean },
  output: Output,
  { signal }: Runtime,
): Promise<Names> {
  if (selection.kind === 'filter') return listed(store, selection, output, signal)
  const names: string[] = []
  const missing: Problem[] = []
  for await (const page of selected(store, selection, signal)) {
    names.push(...page.found.map(({ listed: { name } }) => name))
    missing.push(...page.missing.map(missingProblem))
  }
  const fatal = missingProblemOf(missing, names.length + missing.length > 1, MISSING_HINT)
  if (fatal !== undefined && !(skipMissing && names.length > 0)) throw new CommandFailed(fatal)
  for (const { message } of missing) await output.say(`skipped: ${visibleName(message)}`)
  return names
}

const MISSING_HINT = 'Nothing was exported. --skip-missing exports the others.'

async function* listed(store: StreamStore, selection: Selection, output: Output, signal: AbortSignal) {
  let any = false
  for await (const { found } of selected(store, selection, signal)) {
    for (const { listed: row } of found) yield ownText(row.name)
    any ||= found.length > 0
  }
  if (any) return
  await output.say(`no matching streams in ${visibleText(store.address)}`)
}

/** Writes one stream to stdout: unchanged into a pipe or file, with visible control characters on a terminal. */
async function exportToStdout(
  format: DocumentFormat,
  { store, names, output, runtime }: ExportRequest,
): Promise<Problem | undefined> {
  const name = await onlyOne(names, format)
  if (name === undefined) return undefined
  const loaded = await load(store, name, runtime.signal)
  if (loaded.kind === 'gone') return missingProblem(name)
  if (loaded.kind === 'unreadable' && !isCopied(loaded, format))
    return unreadableOutcome(name, loaded.error, runtime).problem
  const bytes = bytesOf(loaded, format)
  if (!runtime.stdout.isTty) await output.text(bytes)
  else await output.lines(Buffer.from(bytes).toString('utf8').trimEnd().split(/\r?\n/).map(visibleText))
  if (loaded.kind === 'view' && format === 'xml') await noteData(loaded.view, output)
  if (loaded.kind === 'unreadable') {
    await output.say(`${visibleText(loaded.error.message)}; its bytes are shown as stored`)
  }
  return undefined
}

/** One file cannot hold data that is kept beside the document. */
async function noteData({ document }: StreamView, output: Output): Promise<void> {
  const { length } = dataBeside(document)
  if (length === 0) return
  await output.say(
    `${counted(length, 'piece')} of data kept beside the document: not in this file; --to FOLDER has them`,
  )
}

function bytesOf(loaded: Exclude<Loaded, { readonly kind: 'gone' }>, format: DocumentFormat): Uint8Array {
  return loaded.kind === 'unreadable' ? loaded.stored.body : documentOf(loaded.view, format)
}

async function onlyOne(names: Names, format: DocumentFormat): Promise<string | undefined> {
  let only: string | undefined
  for await (const name of names) {
    if (only !== undefined) {
      throw new UsageError(`-o ${format} writes one stream to stdout, and several are selected`, {
        hint: '--to FOLDER writes one file per stream.',
      })
    }
    only = name
  }
  return only
}

/** Copies streams into another store, byte for byte. The source keeps them. */
async function exportToStore(
  address: string,
  { store, names, options, output, runtime }: ExportRequest,
): Promise<Problem | undefined> {
  const { output: _, ...textOptions } = options
  const other = await runtime.openOther(address)
  if (!options.dryRun) await checkMayChange(other)
  if (other.address === runtime.opened?.address) {
    throw new UsageError('--to is the store that is exported', { hint: 'Give another store.' })
  }
  return copyItems(
    {
      items: itemsOf(names, store),
      copies: openCopies(other.store, options, 'export', runtime),
      flags: options,
      options: textOptions,
      isProtected: other.isProtected,
      address: other.address,
      source: store.address,
    },
    openReport('text', textOptions, output, runtime),
    sentence => void output.say(sentence),
    runtime,
  )
}

async function* itemsOf(names: Names, store: StreamStore): AsyncGenerator<Item> {
  for await (const name of names) yield storeItem(store, name)
}
