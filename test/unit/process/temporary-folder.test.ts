import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeTemporaryFolder, sweepTemporaryFolders } from '../../../src/process/temporary-folder.ts'

let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'leasectl-test-'))
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
})

/** The name of a folder of this process, with some parts replaced. */
function nameOf({ machine, pid, start }: { machine?: string; pid?: number; start?: string } = {}): string {
  const own = makeTemporaryFolder()
  rmSync(own, { recursive: true })
  const [, ownMachine, ownPid, ownStart, random] = /^leasectl-run-(\w+)-(\d+)-(\d*)-(\w+)$/.exec(basename(own)) ?? []
  return `leasectl-run-${machine ?? ownMachine}-${pid ?? ownPid}-${start ?? ownStart}-${random}`
}

function made(name: string): string {
  const folder = join(parent, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'output'), 'x')
  return folder
}

/** The id of an ended process. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}

/** Whether a sweep keeps it. */
function stays(folder: string): boolean {
  sweepTemporaryFolders(parent)
  return existsSync(folder)
}

describe('a sweep of temporary folders', () => {
  test('removes the folder of an ended process, with its content', () => {
    expect(stays(made(nameOf({ pid: deadPid() })))).toBe(false)
  })

  test.runIf(process.platform === 'linux')('removes the folder of a process whose id another process has now', () => {
    expect(stays(made(nameOf({ start: '1' })))).toBe(false)
  })

  test('leaves the folders of running processes', () => {
    expect(stays(made(nameOf()))).toBe(true)
  })

  test('leaves the folders of processes whose state it cannot know', () => {
    expect(stays(made(nameOf({ pid: deadPid(), machine: '00000000' })))).toBe(true)
    expect(stays(made(nameOf({ start: '' })))).toBe(true)
  })

  test('leaves folders with similar names', () => {
    const pid = deadPid()
    for (const name of [`leasectl-${pid}`, 'leasectl-abcdef', `x${nameOf({ pid })}`, `${nameOf({ pid })}.bak`]) {
      expect(stays(made(name)), name).toBe(true)
    }
    const file = join(parent, nameOf({ pid }))
    writeFileSync(file, 'x')
    expect(stays(file)).toBe(true)
  })

  test('follows no symbolic link, neither at the name nor below it', () => {
    const precious = made('precious')
    const link = join(parent, nameOf({ pid: deadPid() }))
    symlinkSync(precious, link)
    expect(stays(link)).toBe(true)
    const folder = made(nameOf({ pid: deadPid() }))
    symlinkSync(precious, join(folder, 'link'))
    expect(stays(folder)).toBe(false)
    expect(existsSync(join(precious, 'output'))).toBe(true)
  })

  test.runIf(process.getuid?.() === 0)('leaves folders of other users', () => {
    const folder = made(nameOf({ pid: deadPid() }))
    chownSync(folder, 65_534, 65_534)
    expect(stays(folder)).toBe(true)
  })

  test('of a missing folder does nothing', () => {
    renameSync(parent, `${parent}-gone`)
    onTestFinished(() => rmSync(`${parent}-gone`, { recursive: true }))
    expect(() => sweepTemporaryFolders(parent)).not.toThrow()
  })
})
