import { expect, test } from 'vitest'
import { cli, newWorld } from './support.ts'

/** All of them look like `orders/42`. */
const NAMES = ['orders/42', 'orders/4\u200b2', 'orders/42\ufe0f', 'orders/\u00ad42', 'orders/42\u{e0041}', 'orders/42 ']

async function world() {
  const made = newWorld()
  for (const name of NAMES) expect((await cli(made, ['init', name])).exit).toBe(0)
  return made
}

test.each([['ls'], ['log --all'], ['tail --match ** -n all'], ['cancel --all --dry-run']])(
  '%s shows each of the similar names differently',
  async line => {
    const made = await world()
    const { stdout } = await cli(made, line.split(' '))
    const shown = stdout.match(/orders\/\S*42?\S*/g) ?? []
    expect(new Set(shown).size).toBe(NAMES.length)
    expect(stdout).not.toMatch(/\u200b|\ufe0f|\u00ad|\u{e0041}/u)
  },
)

test('an error shows the exact name', async () => {
  const { stderr } = await cli(newWorld(), ['show', 'orders/4\u200b2'])
  expect(stderr).toContain('there is no stream orders/4\\u{200b}2 ')
})

test('JSON has the names unchanged', async () => {
  const { stdout } = await cli(await world(), ['ls', '-o', 'json'])
  const { items } = JSON.parse(stdout) as { items: { name: string }[] }
  expect(items.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted())
})
