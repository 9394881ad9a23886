import { expect, it } from 'vitest'
import { HUES } from '../../../../src/formats/terminal/style.ts'
import { textStyleOf, themeFor } from '../../../../src/tui/view/theme.ts'

it('the requested theme is used, and none without colors', () => {
  expect(themeFor('light', { hasColour: true, colorFgBg: '15;0' })).toBe('light')
  expect(themeFor('dark', { hasColour: false })).toBe('mono')
  expect(themeFor('mono', { hasColour: true })).toBe('mono')
})

it.each([
  ['15;0', 'dark'],
  ['0;15', 'light'],
  ['0;default;7', 'light'],
  ['0;8', 'dark'],
  ['', 'dark'],
  ['0;default', 'dark'],
  [undefined, 'dark'],
])('the background of COLORFGBG %s is %s', (colorFgBg, theme) => {
  expect(themeFor('auto', { hasColour: true, colorFgBg })).toBe(theme)
})

it('mono uses no color', () => {
  const styles = ['plain', 'good', 'bad', 'warn', 'active', 'dim', 'strong', 'mark', ...HUES] as const
  expect(styles.filter(style => textStyleOf('mono', style).color !== undefined)).toEqual([])
})

it('good, bad, warnings and work have distinct styles', () => {
  for (const theme of ['dark', 'light'] as const) {
    const looks = (['good', 'bad', 'warn', 'active', 'plain'] as const).map(style =>
      JSON.stringify(textStyleOf(theme, style)),
    )
    expect(new Set(looks).size).toBe(looks.length)
  }
})
