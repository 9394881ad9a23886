import { dataOf, type EventData } from '../stream/data.ts'
import { errorCode } from '../util/errors.ts'
import { type DataFlags, type DataSource, inDataFlag, type ResultFlags } from './data-flags.ts'
import { UsageError } from './problem.ts'
import type { Runtime } from './runtime.ts'

/** Reads the data of both flags. @throws UsageError if it cannot be read, is too large, or standard input is asked for twice */
export async function readData(
  flags: DataFlags & ResultFlags,
  runtime: Runtime,
): Promise<{ readonly data?: EventData; readonly result?: EventData }> {
  const { data, dataType, result, resultType } = flags
  if (data?.kind === 'stdin' && result?.kind === 'stdin') {
    throw new UsageError('--data - and --result - both read standard input', { hint: 'Give one of them as @FILE.' })
  }
  const input = await readSource('--data', data, dataType, runtime)
  const output = await readSource('--result', result, resultType, runtime)
  return { ...(input && { data: input }), ...(output && { result: output }) }
}

async function readSource(
  flag: string,
  source: DataSource | undefined,
  type: string | undefined,
  runtime: Runtime,
): Promise<EventData | undefined> {
  if (source === undefined) {
    if (type !== undefined) throw new UsageError(`${flag}-type needs ${flag}`)
    return undefined
  }
  const bytes = await bytesOf(flag, source, runtime)
  return inDataFlag(flag, () => dataOf(bytes, type))
}

async function bytesOf(flag: string, source: DataSource, runtime: Runtime): Promise<Uint8Array> {
  switch (source.kind) {
    case 'text':
      return Buffer.from(source.text)
    case 'file':
      return fileBytes(flag, source.path, runtime)
    case 'stdin':
      if (!runtime.stdin.isTty) return runtime.stdin.readBytes()
      throw new UsageError(`${flag} - reads standard input, which is a terminal`, {
        hint: `Pipe the data in, or write ${flag} @FILE or ${flag} TEXT.`,
      })
    default:
      return source satisfies never
  }
}

const REASONS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no permission to read it',
}

async function fileBytes(flag: string, path: string, runtime: Runtime): Promise<Uint8Array> {
  try {
    return await runtime.readFile(path)
  } catch (cause) {
    const code = errorCode(cause) ?? ''
    throw new UsageError(`${flag} @${path} cannot be read: ${REASONS[code] ?? (code || String(cause))}`, {
      cause,
      hint: `${flag} @FILE reads a file; write ${flag} @@TEXT for a text that begins with @.`,
    })
  }
}
