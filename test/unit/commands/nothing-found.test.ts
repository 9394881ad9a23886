import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { cli, json, newWorld, type Ran } from './support.ts'

describe('a pattern matches as in a shell', () => {
  test.each([
    ['a/[12]', ['a/1', 'a/2']],
    ['a/[!12]', ['a/3']],
    ['a/{1,x*}', ['a/1']],
    ['a/\\[12]', ['a/[12]']],
  ] as const)('%s', async (match, names) => {
    const world = newWorld()
    for (const name of ['a/1', 'a/2', 'a/3', 'a/[12]']) await cli(world, ['init', name])
    const ran = await cli(world, ['cancel', '--match', match, '--yes', '-m', 'test', '-o', 'json'])
    const items = json(ran.stdout).items as readonly Record<string, unknown>[]
    expect(items.map(({ stream }) => stream)).toEqual(names)
  })

  test.each([
    ['ls', '--match'],
    ['lease', 'ls', '--match'],
    ['log', '--match'],
    ['log', '--all', '--by'],
    ['wait', '--match'],
    ['cancel', '--match'],
    ['export', '-o', 'chrome', '--match'],
    ['import', 'folder', '--match'],
    ['work', 'Search', '--match'],
    ['watchdog', '--match'],
    ['top', '--match'],
  ])('an incomplete one is refused: %s %s %s %s', async (...given) => {
    const argv = given.filter(word => word !== undefined)
    const ran = await cli(newWorld(), [...argv, 'a/[12'])
    expect(ran.exit).toBe(2)
    expect(ran.stderr).toContain(`${argv.at(-1)}: the [ at character 3 of the pattern is not closed`)
    expect(ran.stderr).toContain('Write \\[ for the character itself.')
  })

  test('check matches in the same way, as monitoring uses it', async () => {
    const ran = await cli(newWorld(), ['check', '--match', 'a/[12'])
    expect(ran.exit).toBe(3)
    expect(ran.stdout).toContain('--match: the [ at character 3 of the pattern is not closed')
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

  test('the error is JSON too', async () => {
    const ran = await inEmptyFolder(['show', 'a', '-o', 'json'])
    expect(json(ran.stderr)).toMatchObject({ error: { hint: expect.stringContaining('does not exist (yet)') } })
  })
})
