// Checks a report in the frame beside it, as a browser lays it out. Writes a line for each check, with all faults that
// it finds, and a last line at the end, which shows that all checks have run.
'use strict';

const WIDTHS = [1280, 400];
const LEAST_CONTRAST = 4.5;

const asked = new URLSearchParams(location.search);
const address = asked.get('page');
const frame = document.getElementById('report');
const findings = document.getElementById('findings');
const say = text => { findings.textContent += text + '\n'; };

// Pairs of a name and a function that returns the faults that it finds, as a list of texts.
const checks = [];
const check = (name, faults) => checks.push([name, faults]);

const read = file => {
    const request = new XMLHttpRequest();
    request.open('GET', new URL(file, address), false);
    // The status of a file is always 0. A missing file throws an error.
    request.send();
    return request.responseText;
};

const all = (page, selector) => [...page.querySelectorAll(selector)];

const name = element => {
    const text = element.textContent.trim().replace(/\s+/g, ' ').slice(0, 40);
    return `<${element.localName}> "${text}" in ${element.closest('section')?.id ?? 'no section'}`;
};

check('every section is there, with something in it', page => asked.get('sections').split(',').flatMap(id => {
    const section = page.getElementById(id);
    if (section?.localName !== 'section') return [`there is no section ${id}`];
    if (!section.querySelector('h2')?.textContent.trim()) return [`section ${id} has no title`];
    const listed = page.querySelector(`nav a[href="#${id}"]`) ? [] : [`section ${id} is not in the contents`];
    const shows = section.querySelector('p + p, p a, td') ? [] : [`section ${id} is empty`];
    return [...listed, ...shows];
}));

check('nothing is left out, where that is asked', page =>
    asked.get('whole') ? all(page, '.warning').map(warning => `it says: ${warning.textContent.trim()}`) : []);

check('nothing is loaded from elsewhere', (page, window) => {
    const inside = value => value === '' || /^(#|data:)/.test(value);
    const loading = 'img, script, iframe, embed, object, source, audio, video, track, image, use, feImage, link';
    const attributes = ['src', 'srcset', 'data', 'poster', 'href', 'xlink:href'];
    const named = all(page, loading).flatMap(element => attributes
        .map(attribute => element.getAttribute(attribute) ?? '')
        .filter(value => !inside(value))
        .map(value => `${element.localName} names ${value}`));
    const rules = [...all(page, 'style').map(style => style.textContent),
        ...all(page, '[style]').map(element => element.getAttribute('style'))].join('\n');
    const styled = [...rules.matchAll(/@import[^;]*|url\(\s*["']?([^)"']*)/g)]
        .filter(found => found[1] === undefined || !inside(found[1]))
        .map(found => `a style names ${found[0]}`);
    const loaded = window.performance.getEntriesByType('resource').map(entry => `${entry.name} was loaded`);
    return [...named, ...styled, ...loaded];
});

check('every link leads somewhere', page => all(page, 'a').flatMap(link => {
    const to = link.getAttribute('href') ?? '';
    if (/^(https|mailto):/.test(to)) return [];
    if (to.startsWith('#')) return page.getElementById(to.slice(1)) ? [] : [`${name(link)}: nothing is called ${to}`];
    try {
        return read(to) === '' ? [`${name(link)}: ${to} is empty`] : [];
    } catch {
        return [`${name(link)}: there is no ${to}`];
    }
}));

const scrolls = (element, window) => {
    for (let at = element.parentElement; at; at = at.parentElement) {
        if (['auto', 'scroll'].includes(window.getComputedStyle(at).overflowX)) return true;
    }
    return false;
};

for (const width of WIDTHS) {
    check(`no line of the contents runs into another one at a width of ${width}`, page => {
        frame.width = width;
        // The number of an item stands before its line, unless it stands inside.
        const number = 28;
        const lines = all(page, 'nav li').map(line => {
            const { left, top, bottom } = line.getBoundingClientRect();
            const inside = line.ownerDocument.defaultView.getComputedStyle(line).listStylePosition === 'inside';
            return { name: name(line), left: inside ? left : left - number, top, bottom,
                right: line.querySelector('a').getBoundingClientRect().right };
        });
        frame.width = WIDTHS[0];
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 1 && b.top < a.bottom - 1;
        return lines.flatMap((a, at) => lines.slice(at + 1).filter(b => meet(a, b)).map(b => `${a.name} and ${b.name}`));
    });

    check(`nothing sticks out at a width of ${width}`, (page, window) => {
        frame.width = width;
        const root = page.documentElement;
        const seen = root.clientWidth;
        const wide = root.scrollWidth > seen ? [`the page is ${root.scrollWidth} wide`] : [];
        const out = all(page, 'body *').filter(element => {
            const { left, right, width } = element.getBoundingClientRect();
            return width > 0 && (left < -0.5 || right > seen + 0.5) && !scrolls(element, window);
        });
        const box = element => element.getBoundingClientRect();
        const shown = out.map(element => `from ${box(element).left} to ${box(element).right}: ${name(element)}`);
        frame.width = WIDTHS[0];
        return [...wide, ...shown];
    });
}

// Colours, as WCAG 2 compares them.
const colour = text => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return { rgb: [r, g, b], a };
};
const over = (front, back) => front.rgb.map((value, at) => value * front.a + back[at] * (1 - front.a));
const luminance = rgb => {
    const [r, g, b] = rgb.map(value => value / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
};
const ground = (element, window) => {
    if (!element) return [255, 255, 255];
    const own = colour(window.getComputedStyle(element).backgroundColor);
    return own.a === 1 ? own.rgb : over(own, ground(element.parentElement, window));
};

check(`every text has a contrast of ${LEAST_CONTRAST}`, (page, window) => {
    const faults = new Map();
    const texts = all(page, 'body, body *').filter(element =>
        [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim())
        && !['style', 'script', 'title', 'desc'].includes(element.localName));
    for (const element of texts) {
        const style = window.getComputedStyle(element);
        const back = ground(element, window);
        const front = colour(style.color);
        for (let at = element; at; at = at.parentElement) front.a *= Number(window.getComputedStyle(at).opacity);
        const found = contrast(over(front, back), back);
        if (found < LEAST_CONTRAST) {
            faults.set(`${found.toFixed(2)}: ${front.rgb} on ${back}`, name(element));
        }
    }
    return [...faults].map(([what, where]) => `${what}: ${where}`);
});

// Returns the lines of a file of comma-separated values, by their `id`.
const lines = file => {
    const fields = [...read(file).matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)];
    const rows = [[]];
    for (const [, field, end] of fields) {
        rows.at(-1).push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
        if (end !== ',') rows.push([]);
    }
    const [heads, ...rest] = rows;
    const named = rest.map(row => Object.fromEntries(heads.map((head, at) => [head, row[at]])));
    return new Map(named.map(line => [line.id, line]));
};

// Whether a text is a number as the report writes it: with three significant digits, and all digits before the point.
const shows = (text, number, field) => {
    if (!/^-?\d+(\.\d+)?$/.test(text)) return false;
    const before = Math.min(Math.max(Math.floor(Math.log10(Math.abs(number))), -6), 2);
    const digits = field === 'n' ? 0 : 2 - before;
    // A half may be rounded up or down.
    const half = 0.5 * 10 ** -digits * (1 + 1e-6);
    return (text.split('.')[1] ?? '').length === digits && Math.abs(Number(text) - number) <= half;
};

check('every number is that of its line', page => {
    const cases = lines('cases.csv');
    const numbers = all(page, '[data-id]');
    const wrong = numbers.flatMap(cell => {
        const { id, field, times, over } = cell.dataset;
        const line = cases.get(id);
        const raw = line?.[field];
        if (raw === undefined || raw === '') return [`${name(cell)}: line ${id} of cases.csv has no ${field}`];
        const number = over !== undefined ? Number(over) / Number(raw) : Number(raw) * Number(times ?? 1);
        const text = cell.textContent.trim();
        return shows(text, number, field) ? [] : [`${name(cell)}: line ${id} of cases.csv says ${number} (${field})`];
    });
    const facts = lines('facts.csv');
    const spaces = text => text.trim().replace(/\s+/g, ' ');
    const untrue = all(page, '[data-fact]').flatMap(cell => {
        const value = facts.get(cell.dataset.fact)?.value;
        return value !== undefined && spaces(cell.textContent) === spaces(value) ? []
            : [`${name(cell)}: line ${cell.dataset.fact} of facts.csv says ${value}`];
    });
    return [...(numbers.length ? [] : ['there are no numbers']), ...wrong, ...untrue];
});

check('every number says where it comes from', page => all(page, 'td').flatMap(cell => {
    const says = cell.dataset.id || cell.dataset.fact || cell.matches('.text, .published, .missing');
    return says || !/\d/.test(cell.textContent) ? [] : [name(cell)];
}));

const end = () => say(`end: ${checks.length} checks`);

frame.addEventListener('load', () => {
    const [page, window] = [frame.contentDocument, frame.contentWindow];
    for (const [name, faults] of checks) {
        let found;
        try {
            found = faults(page, window);
        } catch (error) {
            found = [`it could not be checked: ${error}`];
        }
        say(found.length === 0 ? `yes: ${name}` : `NO: ${name}`);
        found.slice(0, 10).forEach(fault => say(`  ${fault}`));
        if (found.length > 10) say(`  and ${found.length - 10} more`);
    }
    end();
}, { once: true });
frame.src = address;
