import { hash } from 'node:crypto'
import { open, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { CommandFailed, problem, UsageError } from '../../cli/problem.ts'
import { API_VERSION } from '../../formats/json.ts'
import { isObject } from '../../stream/values.ts'
import { errorCode } from '../../util/errors.ts'
import { visibleText } from '../../util/visible-text.ts'

/** How far a put of files has come: all before is durable or rejected. */
export interface PutProgress {
  /** Number of files that are done. */
  readonly files: number
  /** Lines and bytes of the next one. */
  readonly lines: number
  readonly bytes: number
  readonly put: number
  readonly rejected: number
  /** Of each file that is done or begun, what it was up to there, see `markOf`: another content is not gone on with. */
  readonly marks: readonly string[]
}

/** What a put puts: another one must not go on with its progress. */
export interface PutIdentity {
  readonly inbox: string
  readonly store: string
  /** The second region. */
  readonly also?: string
  /** When the inbox was created; not with two regions, of which each has its own time. */
  readonly created?: number
  /** Where the fields of a record are, as JSON pointers. */
  readonly fields: readonly string[]
  readonly files: readonly string[]
}

const KIND = 'inbox-put'

/**
 * The progress in a file; `undefined` if there is no file yet.
 * @throws UsageError if it is that of another put, or of files that have changed
 */
export async function readProgress(path: string, identity: PutIdentity): Promise<PutProgress | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined
    throw fileProblem(path, 'read', cause)
  }
  const fields = jsonOf(text)
  const counts = isObject(fields) ? ['files', 'lines', 'bytes', 'put', 'rejected'].map(name => fields[name]) : []
  const [files, lines, bytes, put, rejected] = counts.map(Number)
  const marks = isObject(fields) ? fields.marks : undefined
  const isWhole = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
  if (!isObject(fields) || fields.kind !== KIND || !counts.every(isWhole) || !isTexts(marks))
    throw new UsageError(`${visibleText(path)} is not a file of --resume`, {
      hint: 'Name a file that does not exist yet.',
    })
  if (JSON.stringify(fields.of) !== JSON.stringify(identity))
    throw new UsageError(`${visibleText(path)} is the progress of another put`, {
      hint: 'It goes on with the same inbox, store, fields and files only.',
    })
  for (const [at, mark] of marks.entries()) {
    const file = identity.files[at] ?? ''
    // Files that are done were put to their end.
    checkUnchanged(file, mark, await markOf(file, at < Number(files) ? undefined : Number(bytes)), path)
  }
  return { files: files ?? 0, lines: lines ?? 0, bytes: bytes ?? 0, put: put ?? 0, rejected: rejected ?? 0, marks }
}

/** Replaces the file as a whole: whenever the process is killed, the old or the new one is there. */
export async function writeProgress(path: string, identity: PutIdentity, progress: PutProgress): Promise<void> {
  try {
    await writeFile(
      `${path}.new`,
      `${JSON.stringify({ apiVersion: API_VERSION, kind: KIND, of: identity, ...progress })}\n`,
    )
    await rename(`${path}.new`, path)
  } catch (cause) {
    throw fileProblem(path, 'written', cause)
  }
}

/** Bytes before a place that show whether a file is the same up to there. */
const MARK_BYTES = 64 * 1024

/** What a file is up to a place, or to its end: `BYTES HASH`. Nothing for what cannot be read twice, as a pipe. */
export async function markOf(path: string, upTo?: number): Promise<string> {
  const file = await openFile(path)
  if (file === undefined) return ''
  try {
    const bytes = upTo ?? (await file.stat()).size
    const from = Math.max(0, bytes - MARK_BYTES)
    // Of a shorter file the rest is zeros.
    const { buffer } = await file.read(Buffer.alloc(bytes - from), 0, bytes - from, from)
    return `${bytes} ${hash('sha256', buffer, 'hex').slice(0, 16)}`
  } catch (cause) {
    throw fileProblem(path, 'read', cause)
  } finally {
    await file.close()
  }
}

/** `undefined` if it is not there, or not a file: opening a pipe would wait for its writer. */
async function openFile(path: string) {
  try {
    return (await stat(path)).isFile() ? await open(path) : undefined
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined
    throw fileProblem(path, 'read', cause)
  }
}

/** @param now the mark that the file has now; empty if it is gone, which is told when it is read */
function checkUnchanged(file: string, mark: string, now: string, progress: string): void {
  if (now === '' || now === mark) return
  throw new UsageError(`${visibleText(file)} has changed: ${visibleText(progress)} is the progress of what it was`, {
    hint: `Remove ${visibleText(progress)} to put all of it: what is in the inbox already has no second effect.`,
  })
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}

/** A file that cannot be used. */
export function fileProblem(path: string, what: 'read' | 'written', cause: unknown): CommandFailed {
  const why = errorCode(cause) ?? String(cause)
  return new CommandFailed(problem('file-failed', `${visibleText(path)} cannot be ${what} (${why})`, { cause }))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
