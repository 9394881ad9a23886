import { hash } from 'node:crypto'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../util/errors.ts'

/**
 * `leasectl-run-MACHINE-PID-START-` and six characters that `mkdtemp` makes up. MACHINE stands for the host and its
 * namespace of process ids: containers may share a folder for temporary files, and number their processes anew.
 */
const NAME = /^leasectl-run-([0-9a-f]{8})-(\d{1,10})-(\d*)-\w{6}$/

let isSwept = false

/**
 * Makes a folder that only this user can read. The first one of a process removes those that killed ones left behind.
 * @throws the system's error where none can be made
 */
export function makeTemporaryFolder(): string {
  const parent = tmpdir()
  const folder = mkdtempSync(join(parent, `leasectl-run-${machine()}-${process.pid}-${startOf('self')}-`))
  if (!isSwept) sweepTemporaryFolders(parent)
  isSwept = true
  return folder
}

/** Removes the folders of this user whose processes have ended. Never fails, and goes through no symbolic link. */
export function sweepTemporaryFolders(parent: string): void {
  try {
    for (const name of readdirSync(parent)) if (isLeftBehind(name)) removeOwn(join(parent, name))
  } catch {
    // Nothing is to be seen here: what is left does no harm.
  }
}

/** True where the process that made the folder has ended for certain. */
function isLeftBehind(name: string): boolean {
  const [, made, pid, start] = NAME.exec(name) ?? []
  if (made !== machine()) return false
  if (!isRunning(Number(pid))) return true
  // The number may have been given again.
  const now = startOf(Number(pid))
  return start !== '' && now !== '' && now !== start
}

function removeOwn(folder: string): void {
  try {
    const found = lstatSync(folder)
    if (found.isDirectory() && found.uid === process.getuid?.()) rmSync(folder, { recursive: true, force: true })
  } catch {
    // Another process may be removing it too.
  }
}

/** Signal 0 only asks; whoever may not be asked is there. */
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

/** When a process was started, in ticks since the machine was (`man 5 proc_pid_stat`); `''` where that is not told. */
function startOf(pid: number | 'self'): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program stands in brackets and may have any character.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
