import { render } from '@testing-library/react';
import { expect, test } from 'vitest';
import { Markdown, toSafeUrl } from './Markdown';

const renderHtml = (text: string) => render(<Markdown text={text} />).container.innerHTML;

test('HTML in Markdown is shown as text', () => {
  const { container } = render(<Markdown text={'<script>alert(1)</script>\n\nHello <img src=x onerror=alert(1)> <b>there</b>\n\n<div onclick="x">\n\nblock'} />);
  expect(container.querySelector('script, img, b, div[onclick]')).toBeNull();
  expect(container.textContent).toContain('<script>alert(1)</script>');
  expect(container.textContent).toContain('<img src=x onerror=alert(1)>');
});

test('only http and https links are rendered', () => {
  expect(toSafeUrl('https://example.com/a?b')).toBe('https://example.com/a?b');
  for (const href of ['javascript:alert(1)', ' JaVaScRiPt:alert(1)', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', '/crew', '//evil.example', 'blob:x']) {
    expect(toSafeUrl(href)).toBeNull();
  }
  const { container } = render(<Markdown text={'[web](https://example.com) [run](javascript:alert(1)) [file](src/a.rs) <https://x.example>'} />);
  const links = [...container.querySelectorAll('a')];
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['https://example.com/', 'https://x.example/']);
  expect(links.every((link) => link.rel === 'noreferrer noopener')).toBe(true);
  expect(container.textContent).toContain('src/a.rs');
});

test('images are not loaded', () => {
  const { container } = render(<Markdown text={'![a *cat*](https://evil.example/pixel.gif)'} />);
  expect(container.querySelector('img')).toBeNull();
  expect(container.querySelector('a')?.textContent).toBe('picture: a *cat*');
});

test('common Markdown is rendered', () => {
  const html = renderHtml('# One\n\nA **b** *c* ~~d~~ `e < f` &amp; g  \nh\n\n- one\n- [x] two\n\n3. three\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn x() {}\n```');
  for (const part of ['<strong>b</strong>', '<em>c</em>', '<del>d</del>', '<code>e &lt; f</code>', '&amp; g', '<br>', '<ol start="3">', '<blockquote>', '<th>a</th>', 'checked=""']) {
    expect(html).toContain(part);
  }
});

test('deep nesting is limited', () => {
  for (const depth of [200, 5000]) {
    const { container } = render(<Markdown text={`${'>'.repeat(depth)} deep`} />);
    expect(container.querySelectorAll('blockquote').length).toBeLessThan(20);
    expect(container.textContent).toContain('deep');
  }
});
