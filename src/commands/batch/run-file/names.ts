import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../../cli/problem.ts'
import type { Runtime } from '../../../cli/runtime.ts'
import { stateFolder } from '../../../cli/user-files.ts'
import { errorCode } from '../../../util/errors.ts'

type Environment = Runtime['env']

/** In place of a path: the latest run file. */
export const LAST_RUN = 'last'

/** Folder of the run files. */
export function runFolder(env: Environment): string {
  return join(stateFolder(env), 'runs')
}

/** `20261120T140249Z-lease-break-1f0a9c3e.ndjson` */
const NAME = /^(\d{8}T\d{6}Z)-([a-z]+(?:-[a-z]+)?)-[0-9a-f]+\.ndjson$/

export interface RunFileName {
  readonly name: string
  readonly path: string
  /** When the run started. */
  readonly startedMs: number
  /** When its last outcome was written: the order of runs that started in the same second. */
  readonly writtenMs: number
  /** Its command: `lease break`. */
  readonly verb: string
}

/** The run files of this user, the latest first. Files with other names in the folder are not ours. @throws UsageError */
export async function runFilesOf(env: Environment): Promise<RunFileName[]> {
  const folder = runFolder(env)
  const names = await readdir(folder).catch(cause => {
    if (errorCode(cause) === 'ENOENT') return []
    throw new UsageError(`${folder} cannot be read (${errorCode(cause) ?? cause})`, { cause })
  })
  const files = await Promise.all(names.map(name => runFileNamed(folder, name)))
  return files.filter(file => file !== undefined).sort((a, b) => b.startedMs - a.startedMs || b.writtenMs - a.writtenMs)
}

async function runFileNamed(folder: string, name: string): Promise<RunFileName | undefined> {
  const [, time, verb] = NAME.exec(name) ?? []
  if (time === undefined || verb === undefined) return undefined
  const path = join(folder, name)
  const found = await stat(path).catch(() => undefined)
  return found === undefined
    ? undefined
    : { name, path, verb: verb.replace('-', ' '), startedMs: timeOf(time), writtenMs: found.mtimeMs }
}

/** `20261120T140249Z` */
function timeOf(compact: string): number {
  return Date.parse(compact.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
}

/**
 * The path of a run file as users name it: `last` is the latest of the command (without one, of all), a bare name is one of
 * the folder of run files, everything else a path.
 *
 * @throws UsageError for `last` if there is none
 */
export async function runPathOf(given: string, env: Environment, verb?: string): Promise<string> {
  if (given !== LAST_RUN) return NAME.test(given) ? join(runFolder(env), given) : given
  const files = await runFilesOf(env)
  const last = files.find(file => verb === undefined || file.verb === verb)
  if (last !== undefined) return last.path
  throw new UsageError(`there is no run file${verb === undefined ? '' : ` of ${verb}`} in ${runFolder(env)}`, {
    hint: 'A batch leaves one; a single stream by name leaves none.',
  })
}
