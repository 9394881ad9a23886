import { readFile, rename, writeFile } from 'node:fs/promises'
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
}

/** What a put puts: another one must not go on with its progress. */
export interface PutIdentity {
  readonly inbox: string
  readonly store: string
  /** The second region. */
  readonly also?: string
  readonly files: readonly string[]
}

const KIND = 'inbox-put'

/** The progress in a file; `undefined` if there is no file yet. @throws UsageError if it is that of another put */
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
  if (!isObject(fields) || fields.kind !== KIND || counts.some(value => !Number.isSafeInteger(value)))
    throw new UsageError(`${visibleText(path)} is not a file of --resume`, {
      hint: 'Name a file that does not exist yet.',
    })
  if (JSON.stringify(fields.of) !== JSON.stringify(identity))
    throw new UsageError(`${visibleText(path)} is the progress of another put`, {
      hint: 'It goes on with the same inbox, store and files only.',
    })
  return { files: files ?? 0, lines: lines ?? 0, bytes: bytes ?? 0, put: put ?? 0, rejected: rejected ?? 0 }
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
