import { expect, test } from 'vitest'
import type { ChangeOptions, StreamStore } from '../../../../src/store/store.ts'
import { allCommands, cli, newWorld, type World } from '../support.ts'

/** The write modes passed to the store. */
function spied(world: World): { readonly store: StreamStore; readonly modes: unknown[] } {
  const modes: unknown[] = []
  const store = new Proxy(world.store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (key === 'update') modes.push((args[2] as ChangeOptions).write)
        return value.apply(target, args)
      }
    },
  })
  return { store, modes }
}

test.each([
  { argv: ['event', 'set', 's', '01.00', '--tag', 'x'] },
  { argv: ['event', 'start', 's', '01.00', '--owner', 'w'] },
  { argv: ['cancel', 's'] },
  { argv: ['abort', '--all', '--yes', '-m', 'why'] },
  { argv: ['init', 's', '--fork', 'A'] },
])('--write describes how the change of $argv.0 $argv.1 excludes other writers', async ({ argv }) => {
  for (const words of [[], ['--write', 'lease'], ['--write', 'optimistic']]) {
    const world = newWorld()
    await cli(world, ['init', 's', '--fork', 'A'])
    const { store, modes } = spied(world)
    await cli(world, [...argv, ...words], { store })
    expect(modes).toEqual([words[1]])
  }
})

test('every change has --write; commands that remove or handle leases do not', () => {
  const withIt = allCommands().filter(({ options }) => options.some(({ long }) => long === '--write'))
  const names = withIt.map(command => `${command.parent?.name()} ${command.name()}`.replace('leasectl ', ''))
  expect(names).toEqual(expect.arrayContaining(['init', 'cancel', 'abort', 'retry', 'event start', 'event set', 'top']))
  expect(names.filter(name => /^(rm|lease |import|watchdog|event show)/.test(name))).toEqual([])
  const ways = withIt.filter(command => command.name() !== 'top')
  for (const { options } of ways) expect(options.find(({ long }) => long === '--write')?.required).toBe(true)
})
