import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Output } from '../../cli/output.ts'
import { CommandFailed, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { Glob } from '../../ops/glob.ts'
import { parseAddress } from '../../store/address.ts'
import { checkStreamName } from '../../store/names.ts'
import type { StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { errorCode } from '../../util/errors.ts'
import { ownText } from '../../util/strings.ts'
import { visibleText } from '../../util/visible-text.ts'
import { nameOfPath } from '../transfer/file-names.ts'
import { fileProblem, filesBelow, placeOf, readDocumentFile } from '../transfer/files.ts'
import type { Item } from '../transfer/item.ts'

/** Where documents come from. */
export type Source =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly name: string }
  | { readonly kind: 'store'; readonly store: StreamStore }

/** Which of them, under which names. */
export interface Naming {
  /** The names come below this one. No `/` at its end. */
  readonly prefix?: string
  /** Only these, by their name in the source. */
  readonly match?: Glob
}

/** Looks at what the sources are, before anything is written. @throws UsageError, CommandFailed */
export async function openSources(
  given: readonly string[],
  name: string | undefined,
  runtime: Runtime,
): Promise<readonly Source[]> {
  const sources: Source[] = []
  for (const text of given) sources.push(await openSource(text, name, runtime))
  if (name !== undefined && (sources.length > 1 || sources[0]?.kind !== 'file')) {
    throw new UsageError('--name is for a single file', { hint: '--prefix puts several below a name.' })
  }
  return sources
}

async function openSource(text: string, name: string | undefined, runtime: Runtime): Promise<Source> {
  const place = placeOf(text, 'SOURCE')
  if (place.kind === 'store') {
    await checkFile(place.address)
    return { kind: 'store', store: (await runtime.openOther(place.address)).store }
  }
  const { path } = place
  const found = await stat(path).catch(error => {
    if (errorCode(error) === 'ENOENT') throw new UsageError(`there is no file or folder ${path}`)
    throw new CommandFailed(fileProblem(error, path))
  })
  if (found.isDirectory()) return { kind: 'folder', path }
  // A pipe may wait for its writer for ever, and its content is gone once it was read.
  if (!found.isFile()) throw new UsageError(`${path} is neither a file nor a folder`, { hint: 'Save it as a file.' })
  if (/\.(nd)?json$/i.test(path)) throw forReading(path)
  return { kind: 'file', path, name: name ?? nameOfFile(path) }
}

/** An embedded store that is not there is an empty one to its driver; here it is a name typed wrongly. */
async function checkFile(address: string): Promise<void> {
  const where = parseAddress(address)
  if (where.kind !== 'sqlite') return
  await stat(where.path).catch(error => {
    if (errorCode(error) === 'ENOENT') throw new UsageError(`there is no store ${address}`)
  })
}

function nameOfFile(path: string): string {
  const name = nameOfPath(basename(path), '.xml')
  if (name !== undefined && isName(name)) return name
  throw new UsageError(`${path}: which stream is it?`, { hint: '--name STREAM says so; FILE.xml becomes FILE.' })
}

function forReading(path: string): UsageError {
  return new UsageError(`${path}: JSON is for reading, it lacks what a stream needs`, {
    hint: 'Export and import XML.',
  })
}

/** The documents of all sources, one after the other. Says what was left out. */
export async function* allItems(
  sources: readonly Source[],
  naming: Naming,
  output: Output,
  runtime: Runtime,
): AsyncGenerator<Item> {
  let any = false
  for (const source of sources) {
    for await (const item of itemsOf(source, naming, output, runtime)) {
      any = true
      yield { ...item, name: below(naming.prefix, item.name) }
    }
  }
  if (!any) await output.say('nothing to import')
}

function below(prefix: string | undefined, name: string): string {
  return prefix === undefined ? name : `${prefix}/${name}`
}

function itemsOf(source: Source, naming: Naming, output: Output, runtime: Runtime): AsyncIterable<Item> {
  switch (source.kind) {
    case 'store':
      return storeItems(source.store, naming, runtime)
    case 'folder':
      return folderItems(source.path, naming, output)
    case 'file':
      return fileItem(source)
    default:
      return source satisfies never
  }
}

async function* fileItem({ name, path }: Extract<Source, { readonly kind: 'file' }>): AsyncGenerator<Item> {
  yield { name, place: path, read: () => readDocumentFile(path) }
}

async function* storeItems(store: StreamStore, { match }: Naming, { signal }: Runtime): AsyncGenerator<Item> {
  for await (const page of store.list({ signal, ...(match === undefined ? {} : { prefix: match.prefix }) })) {
    for (const { name: listed } of page) {
      if (match !== undefined && !match.matches(listed)) continue
      const name = ownText(listed)
      yield { name, read: async () => (await store.read(name))?.body }
    }
  }
}

async function* folderItems(path: string, { match }: Naming, output: Output): AsyncGenerator<Item> {
  const leftOut = { json: 0, other: 0 }
  let any = false
  for await (const { relative, path: file, isFile } of filesBelow(path)) {
    const name = isFile ? nameOfPath(relative, '.xml') : undefined
    if (name === undefined || !isName(name)) {
      leftOut[relative.endsWith('.json') ? 'json' : 'other'] += 1
      await output.detail(`left out: ${visibleText(file)}`)
      continue
    }
    any = true
    if (match === undefined || match.matches(name)) yield { name, place: file, read: () => readDocumentFile(file) }
  }
  if (!any && leftOut.json > 0) throw forReading(path)
  const others = leftOut.json + leftOut.other
  if (others > 0) {
    await output.say(
      `left out ${counted(others, 'file')} of ${visibleText(path)}: no documents of streams (-v names them)`,
    )
  }
}

/** A folder may hold whatever; only what an export could have written is a stream. */
function isName(name: string): boolean {
  try {
    checkStreamName(name)
    return true
  } catch (error) {
    if (error instanceof InvalidValue) return false
    throw error
  }
}
