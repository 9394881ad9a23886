import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** What stands between children and their files: `disk.c`, compiled; `undefined` where that cannot be done. */
export interface Disk {
  /** What a child's environment needs, for files below `under`. `log`: where what reaches the disk is written down. */
  environment(under: string, log?: string): Readonly<Record<string, string>>
}

/** Where it is not to be had, `why` says what is missing. */
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

/** In memory where there is such a place: nothing there is meant to last, and a sync costs nothing. Gone after the test. */
export function shortFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'leasectl-disk-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
