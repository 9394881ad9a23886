import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Output } from '../../cli/output.ts'
import { CommandFailed, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requireFile } from '../../cli/store.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { Glob } from '../../ops/glob.ts'
import { checkStreamName } from '../../store/names.ts'
import type { StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { errorCode } from '../../util/errors.ts'
import { ownText } from '../../util/strings.ts'
import { visibleText } from '../../util/visible-text.ts'
import { isDataPath, nameOfPath } from '../transfer/file-names.ts'
import { fileProblem, filesBelow, placeOf, readDataFile, readDocumentFile } from '../transfer/files.ts'
import { type Item, storeItem } from '../transfer/item.ts'

/** A source of documents. */
export type Source =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly name: string }
  | { readonly kind: 'store'; readonly store: StreamStore }

/** Selects documents and maps their names. */
export interface Naming {
  /** Put before each name, with a `/` between. No `/` at its end. */
  readonly prefix?: string
  /** Selects by name in the source. */
  readonly match?: Glob
}

/** Opens all sources before anything is written. @throws UsageError, CommandFailed */
export async function openSources(
  given: readonly string[],
  name: string | undefined,
  runtime: Runtime,
): Promise<readonly Source[]> {
  const sources: Source[] = []
  for (const text of given) sources.push(await openSource(text, name, runtime))
  if (name !== undefined && (sources.length > 1 || sources[0]?.kind !== 'file')) {
    throw new UsageError('--name is for a single file', { hint: '--prefix puts several streams below a name.' })
  }
  return sources
}

async function openSource(text: string, name: string | undefined, runtime: Runtime): Promise<Source> {
  const place = placeOf(text, 'SOURCE')
  if (place.kind === 'store') {
    requireFile(place.address)
    return { kind: 'store', store: (await runtime.openOther(place.address)).store }
  }
  const { path } = place
  const found = await stat(path).catch(error => {
    if (errorCode(error) === 'ENOENT') throw new UsageError(`no such file or folder: ${path}`)
    throw new CommandFailed(fileProblem(error, path))
  })
  if (found.isDirectory()) return { kind: 'folder', path }
  // A pipe may block until a writer opens it, and its content can be read only once.
  if (!found.isFile()) throw new UsageError(`${path} is neither a file nor a folder`, { hint: 'Save it as a file.' })
  if (/\.(nd)?json$/i.test(path)) throw forReading(path)
  return { kind: 'file', path, name: name ?? nameOfFile(path) }
}

function nameOfFile(path: string): string {
  const name = nameOfPath(basename(path), '.xml')
  if (name !== undefined && isName(name)) return name
  throw new UsageError(`${path}: the file name does not give a stream name`, {
    hint: 'Use --name STREAM, or a file name that ends in .xml.',
  })
}

function forReading(path: string): UsageError {
  return new UsageError(`${path}: JSON cannot be imported, as it does not hold a complete stream`, {
    hint: 'Export and import XML.',
  })
}

/** Yields the documents of all sources and reports the files it skips. */
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
  yield { name, place: path, read: () => readDocumentFile(path), readData: data => readDataFile(name, path, data) }
}

async function* storeItems(store: StreamStore, { match }: Naming, { signal }: Runtime): AsyncGenerator<Item> {
  for await (const page of store.list({ signal, ...(match === undefined ? {} : { prefix: match.prefix }) })) {
    for (const { name: listed } of page) {
      if (match !== undefined && !match.matches(listed)) continue
      const name = ownText(listed)
      yield storeItem(store, name)
    }
  }
}

async function* folderItems(path: string, { match }: Naming, output: Output): AsyncGenerator<Item> {
  const leftOut = { json: 0, other: 0 }
  let any = false
  for await (const { relative, path: file, isFile } of filesBelow(path)) {
    const name = isFile ? nameOfPath(relative, '.xml') : undefined
    if (name !== undefined && isImpossible(name)) {
      any = true
      if (match === undefined || match.matches(name)) {
        yield { name, place: file, read: () => refuseName(name), readData: () => refuseName(name) }
      }
      continue
    }
    if (isFile && isDataPath(relative)) continue
    if (name === undefined || !isName(name)) {
      leftOut[relative.endsWith('.json') ? 'json' : 'other'] += 1
      await output.detail(`skipped: ${visibleText(file)}`)
      continue
    }
    any = true
    if (match !== undefined && !match.matches(name)) continue
    yield { name, place: file, read: () => readDocumentFile(file), readData: data => readDataFile(name, file, data) }
  }
  if (!any && leftOut.json > 0) throw forReading(path)
  const others = leftOut.json + leftOut.other
  if (others > 0) {
    await output.say(`skipped ${counted(others, 'file')} of ${visibleText(path)}: not stream documents (-v lists them)`)
  }
}

/** Only an older leasectl, or another program, could write such a stream: it must not be lost in silence. */
function isImpossible(name: string): boolean {
  return name.includes('\\')
}

async function refuseName(name: string): Promise<never> {
  checkStreamName(name)
  throw new InvalidValue(`${name} is not a valid stream name`)
}

/** A folder may hold any files; only those that an export could have written are streams. */
function isName(name: string): boolean {
  try {
    checkStreamName(name)
    return true
  } catch (error) {
    if (error instanceof InvalidValue) return false
    throw error
  }
}
