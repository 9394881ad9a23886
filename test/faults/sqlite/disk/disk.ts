import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** The layer between children and their files: `disk.c`, compiled; `undefined` if that is impossible. */
export interface Disk {
  /** The environment of a child, for files below `under`. `log`: the record of everything that reaches the disk. */
  environment(under: string, log?: string): Readonly<Record<string, string>>
}

/** If it is unavailable, `why` gives the reason. */
export function openDisk(): Disk | { readonly why: string } {
  if (process.platform !== 'linux') return { why: 'the calls of a program can be recorded on Linux only' }
  const library = join(shortFolder(), 'disk.so')
  const source = fileURLToPath(new URL('./disk.c', import.meta.url))
  try {
    execFileSync('gcc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl'], { stdio: 'pipe' })
  } catch {
    return { why: 'gcc is missing, with which the record of a disk is made' }
  }
  return {
    environment: (under, log) => ({
      LD_PRELOAD: library,
      LEASECTL_DISK_UNDER: under,
      ...(log === undefined ? {} : { LEASECTL_DISK_LOG: log }),
    }),
  }
}

/** In memory if possible: nothing there needs to last, and a sync costs nothing. Removed after the test. */
export function shortFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'leasectl-disk-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
