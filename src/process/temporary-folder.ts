import { hash } from 'node:crypto'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../util/errors.ts'

/**
 * `leasectl-run-MACHINE-PID-START-` and six random characters of `mkdtemp`. MACHINE identifies the host and its PID namespace:
 * containers may share a folder for temporary files, but not process ids.
 */
const NAME = /^leasectl-run-([0-9a-f]{8})-(\d{1,10})-(\d*)-\w{6}$/

let isSwept = false

/**
 * Creates a folder that only this user can read. The first call in a process removes folders left behind by killed processes.
 * @throws the system's error if it cannot be created
 */
export function makeTemporaryFolder(): string {
  const parent = tmpdir()
  const folder = mkdtempSync(join(parent, `leasectl-run-${machine()}-${process.pid}-${startOf('self')}-`))
  if (!isSwept) sweepTemporaryFolders(parent)
  isSwept = true
  return folder
}

/** Removes the folders of this user whose processes have ended. Never throws, and never follows a symbolic link. */
export function sweepTemporaryFolders(parent: string): void {
  try {
    for (const name of readdirSync(parent)) if (isLeftBehind(name)) removeOwn(join(parent, name))
  } catch {
    // The parent cannot be read: leftover folders do no harm.
  }
}

/** Whether the process that created the folder has certainly ended. */
function isLeftBehind(name: string): boolean {
  const [, made, pid, start] = NAME.exec(name) ?? []
  if (made !== machine()) return false
  if (!isRunning(Number(pid))) return true
  // The process id may have been reused.
  const now = startOf(Number(pid))
  return start !== '' && now !== '' && now !== start
}

function removeOwn(folder: string): void {
  try {
    const found = lstatSync(folder)
    if (found.isDirectory() && found.uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true })
  } catch {
    // Another process may be removing it at the same time.
  }
}

/** Signal 0 only tests for existence; EPERM means that the process exists. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) !== 'ESRCH'
  }
}

let known: string | undefined

function machine(): string {
  known ??= hash('sha256', `${hostname()}\n${namespaceOfPids()}`, 'hex').slice(0, 8)
  return known
}

function namespaceOfPids(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Start time of a process, in clock ticks after boot (`man 5 proc_pid_stat`); `''` if not available. */
function startOf(pid: number | 'self'): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The program name is in parentheses and may contain any character.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
