import { execFile } from 'node:child_process'
import { access, chown, constants, glob, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Identity, type Server, startGuarded } from './guarded.ts'

const run = promisify(execFile)

/** A server program, on PATH or in Debian's folder. */
export interface Program {
  readonly path: string
  /** As it prints it: `7.0.15`. */
  readonly version: string
}

/** `postgres` and, in the same folder, `initdb`; `undefined` if they are not installed. */
export function findPostgres(): Promise<Program | undefined> {
  return find('initdb', ['/usr/lib/postgresql/*/bin'])
}

export function findRedis(): Promise<Program | undefined> {
  return find('redis-server', ['/usr/bin', '/usr/local/bin'])
}

async function find(name: string, usual: readonly string[]): Promise<Program | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  for (const pattern of usual) for await (const folder of glob(pattern)) folders.push(folder)
  for (const folder of folders) {
    const path = join(folder, name)
    if (!(await isProgram(path))) continue
    const { stdout } = await run(path, ['--version'])
    return { path, version: /\d+(\.\d+)+/.exec(stdout)?.[0] ?? '?' }
  }
  return undefined
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** With its defaults: fsync and synchronous_commit are on, so an acknowledged commit is on disk. */
export async function startPostgres({ path }: Program): Promise<Server> {
  const identity = await unprivileged()
  const folder = await serverFolder()
  const data = join(folder, 'data')
  try {
    if (identity.uid !== undefined && identity.gid !== undefined) await chown(folder, identity.uid, identity.gid)
    const words = ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--no-locale']
    await run(path, words, { ...identity, cwd: folder })
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  // The path may be a link to one of several programs that belong together.
  const server = join(dirname(await realpath(path)), 'postgres')
  const args = (port: number) => [server, '-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', '']
  return startGuarded(folder, args, identity)
}

/** @param appendfsync `always`: an acknowledged command is on disk; `everysec`: up to a second of them may be lost */
export async function startRedis({ path }: Program, appendfsync: 'always' | 'everysec'): Promise<Server> {
  const folder = await serverFolder()
  const log = ['--appendonly', 'yes', '--appendfsync', appendfsync, '--save', '']
  return startGuarded(folder, port => [path, '--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, ...log])
}

function serverFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'leasectl-peer-'))
}

/** PostgreSQL refuses to run as root: then it runs as the user of its package, or as nobody. */
async function unprivileged(): Promise<Partial<Identity>> {
  if (process.getuid?.() !== 0) return {}
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (user === undefined) throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody')
  return { uid: Number(user[2]), gid: Number(user[3]) }
}
