import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { sameBytes } from '../../ops/copy.ts'
import { DataFault, dataBeside, readDataBytes } from '../../ops/event-data.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { errorCode } from '../../util/errors.ts'
import { dataPathOf, type Extension, filePathOf } from '../transfer/file-names.ts'
import { fileProblem, isDiskFull } from '../transfer/files.ts'
import { dataOutcome, goneOutcome, problemOutcome, SAME, type TransferOutcome } from '../transfer/outcome.ts'
import { openReport } from '../transfer/report.ts'
import { transfer } from '../transfer/transfer.ts'
import { documentOf, EXTENSION_OF, isCopied, load, unreadableOutcome } from './documents.ts'
import { openDraft, type PartialFile } from './output-file.ts'
import { LeadsElsewhere, openSafeFolder, type SafeFolder } from './safe-folder.ts'
import type { DocumentFormat, ExportRequest, Names } from './target.ts'

/** Writes one file per stream, in folders that follow their names. A repeated export skips identical files. Without streams it creates nothing. */
export async function exportToFolder(
  path: string,
  format: DocumentFormat,
  { store, names, options, output, runtime }: ExportRequest,
): Promise<Problem | undefined> {
  const report = openReport('text', options, output, runtime)
  const items = await begun(names)
  if (items === undefined) return report.end(undefined)
  const folder = await openFolderTarget(path, EXTENSION_OF[format], options.replace === true)
  let asStored = 0
  const work = async (name: string) => {
    const loaded = await load(store, name)
    if (loaded.kind === 'gone') return goneOutcome(name)
    if (loaded.kind === 'unreadable' && !isCopied(loaded, format)) {
      return unreadableOutcome(name, loaded.error, runtime)
    }
    const stored = loaded.kind === 'view' ? loaded.view.stored : loaded.stored
    const content = loaded.kind === 'view' ? documentOf(loaded.view, format) : stored.body
    if (loaded.kind === 'unreadable') asStored += 1
    else if (format === 'xml' && !options.withoutData) {
      const lost = await writeData(store, loaded.view, folder, runtime)
      if (lost !== undefined) return lost
    }
    const note = loaded.kind === 'unreadable' ? 'cannot be read, copied unchanged' : ''
    return outcomeOf(name, await folder.write(name, content, stored.modifiedMs), note)
  }
  const { concurrency } = options
  const stopped = await transfer({ items, nameOf: name => name, work, concurrency }, report, runtime)
  if (asStored > 0) await output.say(`${asStored} cannot be read as event streams; their bytes were copied unchanged`)
  return report.end(stopped)
}

/** The names after the first is known; `undefined` without any. @throws the faults of a store that cannot be listed */
async function begun(names: Names): Promise<AsyncIterable<string> | undefined> {
  const iterator = Symbol.asyncIterator in names ? names[Symbol.asyncIterator]() : names[Symbol.iterator]()
  const first = await iterator.next()
  if (first.done) return undefined
  return (async function* () {
    for (let next: IteratorResult<string> = first; !next.done; next = await iterator.next()) yield next.value
  })()
}

/** Writes the data that is kept beside a document. Returns the outcome of the stream if that fails. */
async function writeData(
  store: StreamStore,
  { name, document, stored }: StreamView,
  folder: FolderTarget,
  runtime: Runtime,
): Promise<TransferOutcome | undefined> {
  for (const { data } of dataBeside(document)) {
    const bytes = await readDataBytes(store, { stream: name, born: document.born }, data).catch(error => {
      if (error instanceof DataFault) return dataOutcome(name, error, runtime)
      throw error
    })
    if (!(bytes instanceof Uint8Array)) return bytes
    const written = await folder.writeData(name, data.sha256, bytes, stored.modifiedMs)
    if (written.kind === 'refused' || written.kind === 'failed') return outcomeOf(name, written, '')
  }
  return undefined
}

function outcomeOf(stream: string, outcome: WriteOutcome, note: string): TransferOutcome {
  switch (outcome.kind) {
    case 'written':
      return { stream, word: 'done', note: note === '' ? 'written' : note, place: outcome.path }
    case 'already':
      return { stream, word: 'already', note: note === '' ? SAME : note, place: outcome.path }
    case 'refused':
    case 'failed':
      return { ...problemOutcome(outcome.kind, stream, outcome.problem), stop: isDiskFull(outcome.problem) }
    default:
      return outcome satisfies never
  }
}

type WriteOutcome =
  | { readonly kind: 'written' | 'already'; readonly path: string }
  | { readonly kind: 'refused' | 'failed'; readonly problem: Problem }

/** A folder with one file per stream, and the files of its data. */
interface FolderTarget {
  write(stream: string, content: Uint8Array, modifiedMs: number): Promise<WriteOutcome>
  writeData(stream: string, sha256: string, content: Uint8Array, modifiedMs: number): Promise<WriteOutcome>
}

/**
 * Opens a folder for one file per stream, and creates it if it is missing.
 *
 * @param replace replace existing files whose content differs
 */
async function openFolderTarget(path: string, extension: Extension, replace: boolean): Promise<FolderTarget> {
  const folder = await openSafeFolder(path)
  /** The stream of each file, by device and inode. If the file system takes `A` and `a` for one file, it finds the clash. */
  const owners = new Map<string, string>()
  const serialize = keyedQueue()
  const write = (file: string, stream: string, content: Uint8Array, modifiedMs: number) => {
    const shown = join(path, file)
    const writing = { folder, file, shown, stream, content, modifiedMs, replace, owners }
    // Names that may denote the same file must not be written at the same time.
    return serialize(file.normalize('NFC').toLowerCase(), () => writeSafely(writing))
  }
  return {
    write: (stream, content, modifiedMs) => write(filePathOf(stream, extension), stream, content, modifiedMs),
    // Several streams may share the file of the same content.
    writeData: (stream, sha256, content, modifiedMs) =>
      write(dataPathOf(filePathOf(stream, extension), sha256), sha256, content, modifiedMs),
  }
}

async function writeSafely(writing: Writing): Promise<WriteOutcome> {
  try {
    return await writeFile(writing)
  } catch (error) {
    if (error instanceof LeadsElsewhere) return refused(`${error.message}: links are not followed`)
    return { kind: 'failed', problem: fileProblem(error, writing.shown) }
  }
}

/** Runs work with the same key one at a time. */
function keyedQueue() {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const previous = last.get(key)
    const current = previous === undefined ? work() : previous.then(work, work)
    last.set(key, current)
    try {
      return await current
    } finally {
      if (last.get(key) === current) last.delete(key)
    }
  }
}

interface Writing {
  readonly folder: SafeFolder
  readonly file: string
  /** The path for messages. */
  readonly shown: string
  readonly stream: string
  readonly content: Uint8Array
  readonly modifiedMs: number
  readonly replace: boolean
  readonly owners: Map<string, string>
}

async function writeFile(writing: Writing): Promise<WriteOutcome> {
  const folder = await writing.folder.folderOf(writing.file)
  const path = join(folder, basename(writing.file))
  const conflict = await compareExisting(path, writing)
  if (conflict !== undefined) return conflict
  const draft = await openDraft(folder)
  try {
    await writing.folder.check(folder)
    const inode = await fill(draft, writing)
    if (writing.replace) await draft.replace(path)
    else if (!(await draft.publish(path))) {
      // Another process was faster, or the file system takes the name for that of another file.
      return (
        (await compareExisting(path, writing)) ?? refused(`${writing.shown} appeared and vanished during the export`)
      )
    }
    writing.owners.set(inode, writing.stream)
    return { kind: 'written', path: writing.shown }
  } finally {
    await draft.discard()
  }
}

async function fill({ handle }: PartialFile, { content, modifiedMs }: Writing): Promise<string> {
  await handle.writeFile(content)
  await handle.utimes(modifiedMs / 1_000, modifiedMs / 1_000)
  return inodeOf(await handle.stat({ bigint: true }))
}

/** The outcome if an existing file decides it; `undefined` if the file can be written. */
async function compareExisting(path: string, writing: Writing): Promise<WriteOutcome | undefined> {
  const found = await existing(path, writing.content)
  if (found === undefined) return undefined
  const { shown, stream, owners, replace } = writing
  if (found.kind === 'no file') return refused(`${shown} exists and is not a regular file`)
  const owner = owners.get(found.inode)
  if (owner !== undefined && owner !== stream) {
    return refused(`${shown} is the file of ${owner}: this file system does not distinguish the two names`)
  }
  if (found.kind === 'same') {
    owners.set(found.inode, stream)
    return { kind: 'already', path: shown }
  }
  if (replace) return undefined
  return refused(`${shown} exists with different content`, '--replace overwrites it.')
}

type Existing = { readonly kind: 'no file' } | { readonly kind: 'same' | 'other'; readonly inode: string }

async function existing(path: string, content: Uint8Array): Promise<Existing | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let handle: FileHandle
  try {
    handle = await open(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    if (errorCode(error) === 'ELOOP' || errorCode(error) === 'EMLINK') return { kind: 'no file' }
    throw error
  }
  try {
    const stat = await handle.stat({ bigint: true })
    if (!stat.isFile()) return { kind: 'no file' }
    const same = stat.size === BigInt(content.length) && sameBytes(await handle.readFile(), content)
    return { kind: same ? 'same' : 'other', inode: inodeOf(stat) }
  } finally {
    await handle.close()
  }
}

function inodeOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`
}

function refused(message: string, hint?: string): WriteOutcome {
  return {
    kind: 'refused',
    problem: problem('exists', message, { exit: 5, ...(hint === undefined ? {} : { hint }) }),
  }
}
