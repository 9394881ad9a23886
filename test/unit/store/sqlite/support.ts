import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** A folder for one test, gone after it. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Reads a file without the driver. */
export function inFile<T>(path: string, look: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path)
  try {
    return look(db)
  } finally {
    db.close()
  }
}

export function integrity(path: string): unknown {
  return inFile(path, db => db.prepare('PRAGMA integrity_check').get()?.integrity_check)
}

export interface Child {
  readonly process: ChildProcess
  /** Its output so far. */
  readonly lines: readonly string[]
  /** When it has ended and all its lines have arrived: exit code, or `null` if it was killed. */
  readonly ended: Promise<number | null>
}

export interface ChildOptions {
  /** As root, drops its privileges: root may write everything. */
  readonly asNobody?: boolean
  readonly onLine?: (lines: readonly string[]) => void
}

/** Starts `child.ts`, which ends with the test at the latest. */
export function startChild(args: readonly string[], { asNobody = false, onLine }: ChildOptions = {}): Child {
  const script = fileURLToPath(new URL('./child.ts', import.meta.url))
  const identity = asNobody && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'], ...identity })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', line => {
    lines.push(line)
    onLine?.(lines)
  })
  return { process: child, lines, ended: new Promise(resolve => child.on('close', resolve)) }
}

/** The id of a user without privileges. */
export const NOBODY = 65_534
