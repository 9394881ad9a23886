import { execFile } from 'node:child_process'
import type { Stats } from 'node:fs'
import { access, constants, realpath, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isSea } from 'node:sea'
import { promisify } from 'node:util'
import { errorCode } from '../../util/errors.ts'
import { FactCollector } from '../fact-finder.ts'
import type { InspectOptions, SqliteFacts } from '../facts.ts'
import type { SqliteFile } from './file.ts'
import { sqliteVersion } from './open.ts'
import { mayWriteWith } from './schema.ts'

/** Limit for waiting for the locks of other programs, ms. */
const LOCK_WAIT_MS = 2_000

/**
 * Collects the facts about the file of a store. It creates and changes nothing; with `deep` it reads the whole file.
 * @throws the signal's reason when it aborts; other failures are in `unknown`
 */
export async function inspectSqlite(
  file: SqliteFile,
  address: string,
  { deep = false, signal }: InspectOptions = {},
): Promise<SqliteFacts> {
  const path = resolve(address.slice('sqlite:'.length))
  const finder = new FactCollector<SqliteFacts>(signal)
  let exists = true
  await finder.learn(['size', 'names', 'mode'], async () => {
    const status = await statusOf(path)
    exists = status !== undefined
    return status === undefined ? {} : { size: status.size, names: status.nlink, ...modeOf(status) }
  })
  const place = exists ? path : await nearestFolder(path)
  await finder.learn(['freeBytes', 'network'], () => diskOf(place))
  if (exists) {
    await finder.learn(['walSize'], async () => ({
      walSize: (await statusOf(`${await realpath(path)}-wal`))?.size ?? 0,
    }))
    await finder.learn(['journalMode', 'synchronous', 'schemaVersion'], () => settingsOf(file, path, signal))
    // With a second name there may be a second write-ahead log, which the check would miss.
    if (deep && (finder.facts.names ?? 1) === 1)
      await finder.learn(['faults'], async () => ({ faults: await quickCheck(path, signal) }))
  } else await finder.learn(['creatable'], async () => ({ creatable: await mayWriteTo(place) }))
  const version = sqliteVersion()
  const known = { path, exists, sqliteVersion: version, mayWrite: mayWriteWith(version) }
  return { kind: 'sqlite', address, ...known, ...finder.facts, unknown: finder.unknown }
}

async function statusOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function modeOf({ mode }: Stats): Partial<SqliteFacts> {
  return process.platform === 'win32' ? {} : { mode: mode & 0o777 }
}

async function nearestFolder(path: string): Promise<string> {
  let folder = dirname(path)
  while (folder !== dirname(folder) && !(await isFolder(folder))) folder = dirname(folder)
  return folder
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}

async function mayWriteTo(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Type numbers of file systems on which SQLite cannot trust locks (`man 2 statfs`). */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x786f4256, 'VirtualBox shared folder'],
])

async function diskOf(path: string): Promise<Partial<SqliteFacts>> {
  const { type, bavail, bsize } = await statfs(path)
  const network = process.platform === 'linux' ? { network: NETWORK_FILE_SYSTEMS.get(type) ?? '' } : {}
  return { freeBytes: bavail * bsize, ...network }
}

/** Values of `PRAGMA synchronous`, by number. */
const SYNCHRONOUS = ['off', 'normal', 'full', 'extra']

async function settingsOf(
  file: SqliteFile,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Partial<SqliteFacts>> {
  const mayShare = await mayWriteTo(dirname(await realpath(path)))
  const found = await file.read(
    connection => {
      const one = (sql: string) => connection.get(sql)?.[0]
      const journalMode = String(one('PRAGMA journal_mode'))
      return {
        // Who may not share the file reads it as one that never changes, and is told another mode than its writers have.
        ...((mayShare || journalMode === 'wal') && { journalMode }),
        synchronous: SYNCHRONOUS[Number(one('PRAGMA synchronous'))] ?? 'unknown',
        schemaVersion: Number(one('PRAGMA user_version')),
      }
    },
    { signal, lockWaitMs: LOCK_WAIT_MS },
  )
  return found ?? {}
}

/**
 * The first 20 faults of a store's file; none in a sound one. SQLite checks a file in one call, which blocks this process and
 * cannot be interrupted. Uses nothing outside itself: its text runs in a process of its own.
 */
export function quickCheckHere(path: string): readonly string[] {
  try {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    const rows = new DatabaseSync(path, { readOnly: true }).prepare('PRAGMA quick_check(20)').all()
    return rows.map(row => String(row.quick_check)).filter(line => line !== 'ok')
  } catch (error) {
    return [(error as Error).message]
  }
}

/** The check in a child process, which can be ended with the signal. */
async function quickCheck(path: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const options = signal === undefined ? {} : { signal }
  const code = `console.log(JSON.stringify((${quickCheckHere})(process.argv[1])))`
  // The single executable is no Node that runs code: it has a command for this.
  const args = isSea() ? ['__quick-check', path] : ['--no-warnings', '-e', code, path]
  const { stdout } = await promisify(execFile)(process.execPath, args, options)
  return JSON.parse(stdout)
}
