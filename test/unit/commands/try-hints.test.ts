import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { documentText } from '../../support/stream-builder.ts'
import { cli, newWorld, type Ran, type Setting, type World } from './support.ts'

/** Names that look like flags to a careless command line. */
const NAMES = ['--odd', '-x', '--store', '-c', '--']

/** The commands in the hints of an output, each as the words that a shell passes. */
function hintsIn({ stdout, stderr }: Ran): readonly (readonly string[])[] {
  const lines = [...`${stdout}\n${stderr}`.matchAll(/^ *try +(leasectl .*)$/gm)].flatMap(([, line]) => line ?? [])
  return lines.map(line =>
    execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
      .split('\0')
      .slice(1, -1),
  )
}

/** Runs a suggested command: it must be about that stream. */
async function followed(world: World, ran: Ran, setting: Setting = {}): Promise<readonly Ran[]> {
  return Promise.all(hintsIn(ran).map(argv => cli(world, argv, setting)))
}

describe.each(NAMES)('a stream with the name %s', name => {
  test('is shown by the command in the hint for an infinite lease', async () => {
    const world = newWorld()
    await cli(world, ['init', '--', name])
    await cli(world, ['lease', 'acquire', '--duration', 'infinite', '--', name])
    const held = await cli(world, ['cancel', '--lease-wait', '0s', '--', name])
    expect(held).toMatchObject({ exit: 6 })
    const [shown] = await followed(world, held)
    expect(shown).toMatchObject({ exit: 0, stdout: expect.stringContaining(name) })
  })

  test('is repaired by the commands in the hints of doctor, also in a named store', async () => {
    const world = newWorld()
    await cli(world, ['init', '--', 'seed'])
    const seed = await world.store.read('seed')
    if (seed?.summary === undefined) throw new Error('no summary')
    const odd = documentText(
      { id: '00', name: 'R', status: 'inprocess', next: '-e' },
      { id: '-e', name: 'A', status: 'done', prev: '00' },
      { id: '--dry-run', name: 'A', status: 'init', prev: '-e', timeout: '90' },
    )
    await world.store.create(name, Buffer.from(odd), seed.summary)
    const named: Setting = { source: 'flag' }
    const told = await cli(world, ['doctor', '--all'], named)
    const hints = hintsIn(told)
    expect(hints.length).toBeGreaterThan(1)
    for (const argv of hints) {
      expect(argv.slice(0, argv.indexOf('--'))).toContain('--store')
      const ran = await cli(world, argv, named)
      expect(ran.exit, `${argv.join(' ')}: ${ran.stderr}`).not.toBe(2)
      expect(ran.exit, `${argv.join(' ')}: ${ran.stderr}`).not.toBe(3)
    }
  })
})
