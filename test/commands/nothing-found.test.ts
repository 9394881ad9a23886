import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { cli, json, newWorld, type Ran } from './support.ts'

describe('brackets and braces stand for themselves: where they match nothing, that is told', () => {
  test.each([
    [['ls'], 0],
    [['ls', '--group-by', 'status'], 0],
    [['lease', 'ls'], 0],
    [['log'], 0],
    [['wait'], 3],
    [['cancel'], 0],
    [['export', '-o', 'chrome'], 0],
  ] as const)('%o', async (argv, exit) => {
    const world = newWorld()
    await cli(world, ['init', 'a/1'])
    const ran = await cli(world, [...argv, '--match', 'a/[12]'])
    expect(ran.exit).toBe(exit)
    expect(ran.stderr).toContain('[ stands for itself: * and ** are the only wildcards, ? is one character')
    expect((await cli(world, [...argv, '--match', 'b/{x,y}'])).stderr).toContain('{ stands for itself')
    expect((await cli(world, [...argv, '--match', 'b/*'])).stderr).not.toContain('stands for itself')
  })

  test('where they match nothing is said', async () => {
    const world = newWorld()
    await cli(world, ['init', 'a/[12]'])
    expect((await cli(world, ['ls', '--match', 'a/[12]'])).stderr).toBe('')
  })
})

describe('an embedded store without a file', () => {
  async function inEmptyFolder(argv: readonly string[]): Promise<Ran> {
    const folder = mkdtempSync(join(tmpdir(), 'leasectl-nothing-'))
    const store = await openStore(`sqlite:${folder}/x.db`, {})
    try {
      return await cli(newWorld(), argv, { store })
    } finally {
      await store.close()
      rmSync(folder, { recursive: true })
    }
  }

  test.each([['ls'], ['ls', '--failed'], ['ls', '--group-by', 'status'], ['lease', 'ls']])('%s %s', async (...argv) => {
    const ran = await inEmptyFolder(argv.filter(word => word !== undefined))
    expect(ran.exit).toBe(0)
    expect(ran.stderr).toMatch(/x\.db: the file does not exist \(yet\)\n$/)
  })

  test.each(['show a', 'log a', 'tail a', 'lease show a', 'wait --all', 'cancel a'])('%s', async line => {
    const ran = await inEmptyFolder(line.split(' '))
    expect(ran.exit).toBe(3)
    expect(ran.stderr).toMatch(/hint {5}Is it the right store\? sqlite:.*x\.db does not exist \(yet\)\./)
  })

  test('as JSON too', async () => {
    const ran = await inEmptyFolder(['show', 'a', '-o', 'json'])
    expect(json(ran.stderr)).toMatchObject({ error: { hint: expect.stringContaining('does not exist (yet)') } })
  })
})
