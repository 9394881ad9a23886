import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataOf, type EventData, MAX_DATA_BYTES } from '../../stream/data.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { existsWithoutLink, readProgramFile } from './program-file.ts'

/** Maximum length of the file with the media type, bytes. */
const MOST_TYPE_BYTES = 1_024

/** The files by which a program gets the input of its event, and leaves the result. They are in its private folder. */
export interface DataFiles {
  /** Absent if the event has no input. */
  readonly input: string | undefined
  /** The program creates it. */
  readonly result: string
  /** The program may write the media type of the result into it. */
  readonly resultType: string
}

/** @throws the system's error if the input cannot be written */
export function makeDataFiles(folder: string, input: Uint8Array | undefined): DataFiles {
  const path = input && join(folder, 'input')
  if (path !== undefined && input !== undefined) writeFileSync(path, input, { mode: 0o600, flag: 'wx' })
  return { input: path, result: join(folder, 'result'), resultType: join(folder, 'result-type') }
}

/** The variables of a program for these files. */
export function dataVariables({ input, result, resultType }: DataFiles): Readonly<Record<string, string | undefined>> {
  return { LEASECTL_INPUT: input, LEASECTL_RESULT: result, LEASECTL_RESULT_TYPE: resultType }
}

/**
 * The result that a program has left; `undefined` if it has created no file. An empty file is an empty result.
 *
 * @throws InvalidValue if it cannot be used: more than 16 MiB, no regular file, an invalid media type
 */
export function readResultFile({ result, resultType }: DataFiles): EventData | undefined {
  if (!existsWithoutLink(result)) return undefined
  const bytes = readProgramFile(result, MAX_DATA_BYTES)
  if (bytes.length > MAX_DATA_BYTES) throw new InvalidValue(`it has more than ${MAX_DATA_BYTES / 1024 / 1024} MiB`)
  return dataOf(bytes, typeIn(resultType))
}

function typeIn(path: string): string | undefined {
  if (!existsWithoutLink(path)) return undefined
  const text = Buffer.from(readProgramFile(path, MOST_TYPE_BYTES)).toString('utf8').trim()
  return text === '' ? undefined : text
}
