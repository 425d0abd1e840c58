# SPDX-License-Identifier: Apache-2.0
"""Small drawn scenes: what is in a picture, and two ways to paint it.

`paint` draws one scene with Pillow (samples, evaluation, what a user would hand in); `Painter`
draws a batch on the GPU for training, enlarges it to the model's input size with the same cubic
kernel and rounding as the image processor, and cuts it into patches. Both start from the same
polygons. Scenes carry their own truth; what is asked about them is in talk_picture.py.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw

from words import ALL_SHAPES, BACKGROUNDS, COLOURS

CANVAS = 224          # side of a drawn picture, pixels
INPUT = 384           # side after the image processor's enlargement at a budget of 70
MAX_OBJECTS = 6
SPRITE = 128          # side of a stored mask, pixels
SPRITE_RADIUS = 56    # pixels of a mask that stand for radius 1

REGIONS = {(0, 0): "at the top left", (0, 1): "at the top", (0, 2): "at the top right",
           (1, 0): "on the left", (1, 1): "in the middle", (1, 2): "on the right",
           (2, 0): "at the bottom left", (2, 1): "at the bottom", (2, 2): "at the bottom right"}
REGION_CENTRE = (46.0, 112.0, 178.0)


@dataclass
class Thing:
    shape: str
    colour: str
    x: float
    y: float
    radius: float
    angle: float
    rgb: tuple


@dataclass
class Scene:
    things: list
    background: str
    background_rgb: tuple
    noise: float
    layout: str                      # "single", "same", "kinds", "sides"
    region: str = ""                 # of a single thing
    axis: str = ""                   # "h" or "v" when two things stand side by side
    kinds: list = field(default_factory=list)   # [(shape, colour, count)]


def polygons(shape):
    """[(points, fill)] of a shape inside the unit circle, y downward; later ones paint over."""
    def ring_points(r, a0=0.0, a1=360.0, n=64, cx=0.0, cy=0.0):
        steps = [math.radians(a0 + (a1 - a0) * i / n) for i in range(n + 1)]
        return [(cx + r * math.cos(t), cy + r * math.sin(t)) for t in steps]

    if shape == "circle":
        return [(ring_points(0.88), 255)]
    if shape == "square":
        return [([(-.78, -.78), (.78, -.78), (.78, .78), (-.78, .78)], 255)]
    if shape == "triangle":
        return [([(0, -.95), (.92, .7), (-.92, .7)], 255)]
    if shape == "star":
        pts = []
        for i in range(10):
            r = 1.0 if i % 2 == 0 else 0.42
            t = math.radians(-90 + 36 * i)
            pts.append((r * math.cos(t), r * math.sin(t)))
        return [(pts, 255)]
    if shape == "cross":
        a, b = 0.3, 0.95
        return [([(-a, -b), (a, -b), (a, -a), (b, -a), (b, a), (a, a), (a, b), (-a, b), (-a, a),
                  (-b, a), (-b, -a), (-a, -a)], 255)]
    if shape == "heart":
        pts = []
        for i in range(72):
            t = 2 * math.pi * i / 72
            x = 16 * math.sin(t) ** 3
            y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
            pts.append((x / 18.0, (-y - 2.5) / 18.0))
        return [(pts, 255)]
    if shape == "moon":
        outer = ring_points(0.92, 60, 300)
        inner = ring_points(0.80, 278, 82, cx=0.36)
        return [(outer + inner, 255)]
    if shape == "arrow":
        return [([(-.95, -.26), (.05, -.26), (.05, -.7), (.95, 0), (.05, .7), (.05, .26),
                  (-.95, .26)], 255)]
    if shape == "ring":
        return [(ring_points(0.92), 255), (ring_points(0.52), 0)]
    if shape == "bolt":
        return [([(.1, -1), (-.55, .12), (-.06, .12), (-.28, 1), (.55, -.25), (.06, -.25),
                  (.42, -1)], 255)]
    if shape == "halfdisc":
        return [(ring_points(0.92, 180, 360, cy=0.4), 255)]
    if shape == "tee":
        return [([(-.85, -.85), (.85, -.85), (.85, -.35), (.25, -.35), (.25, .9), (-.25, .9),
                  (-.25, -.35), (-.85, -.35)], 255)]
    if shape == "zigzag":
        return [([(-.95, .1), (-.4, -.6), (.05, .05), (.5, -.6), (.95, .1), (.95, .65),
                  (.5, .0), (.05, .65), (-.4, .0), (-.95, .65)], 255)]
    raise ValueError(shape)


def jitter(rng, rgb, amount):
    return tuple(min(255, max(0, c + rng.randint(-amount, amount))) for c in rgb)


def make_thing(rng, shape, colour, x, y, radius):
    angle = rng.uniform(-14, 14)
    return Thing(shape, colour, x, y, radius, angle, jitter(rng, COLOURS[colour], 12))


def make_scene(rng, shapes, layout=None, require=None, colours=None):
    """A random scene of things from `shapes`; `require` is a shape that must appear."""
    layout = layout or rng.choices(["single", "same", "kinds", "sides"], [25, 25, 35, 15])[0]
    names = list(colours or COLOURS)
    background = rng.choice(list(BACKGROUNDS))
    scene = Scene([], background, jitter(rng, BACKGROUNDS[background], 4),
                  rng.choice([0.0, 0.0, 1.5, 3.0]), layout)

    def pick_shape(first):
        return require if (first and require) else rng.choice(shapes)

    if layout == "single":
        row, col = rng.randrange(3), rng.randrange(3)
        x = REGION_CENTRE[col] + rng.uniform(-14, 14)
        y = REGION_CENTRE[row] + rng.uniform(-14, 14)
        top = 32 if (row, col) != (1, 1) else 60
        shape, colour = pick_shape(True), rng.choice(names)
        scene.things = [make_thing(rng, shape, colour, x, y, rng.uniform(22, top))]
        scene.region = REGIONS[(row, col)]
        scene.kinds = [(shape, colour, 1)]
        return scene
    if layout == "sides":
        shape_a, shape_b = pick_shape(True), pick_shape(False)
        colour_a, colour_b = rng.sample(names, 2)
        while shape_b == shape_a:
            shape_b = rng.choice(shapes)
        if rng.random() < 0.5:
            shape_a, shape_b = shape_b, shape_a
        near, far = rng.uniform(40, 68), rng.uniform(156, 184)
        p, q = rng.uniform(60, 164), rng.uniform(60, 164)
        scene.axis = rng.choice("hv")
        spots = [(near, p), (far, q)] if scene.axis == "h" else [(p, near), (q, far)]
        for (shape, colour), (x, y) in zip([(shape_a, colour_a), (shape_b, colour_b)], spots):
            scene.things.append(make_thing(rng, shape, colour, x, y, rng.uniform(22, 36)))
        scene.kinds = [(shape_a, colour_a, 1), (shape_b, colour_b, 1)]
        return scene
    if layout == "same":
        kinds = [(pick_shape(True), rng.choice(names), rng.randint(2, 5))]
    else:
        shape_a, shape_b = pick_shape(True), pick_shape(False)
        while shape_b == shape_a:
            shape_b = rng.choice(shapes)
        colour_a, colour_b = rng.sample(names, 2)
        kinds = [(shape_a, colour_a, rng.randint(1, 3)), (shape_b, colour_b, rng.randint(1, 3))]
    for _ in range(100):
        scene.things, ok = [], True
        base = rng.uniform(21, 32)
        for shape, colour, count in kinds:
            for _ in range(count):
                for _ in range(30):
                    r = min(36.0, base * rng.uniform(0.85, 1.2))
                    x, y = rng.uniform(r, CANVAS - r), rng.uniform(r, CANVAS - r)
                    if all(math.hypot(x - t.x, y - t.y) > r + t.radius + 2 for t in scene.things):
                        scene.things.append(make_thing(rng, shape, colour, x, y, r))
                        break
                else:
                    ok = False
        if ok:
            break
    order = {name: i for i, name in enumerate(ALL_SHAPES)}
    scene.kinds = sorted(kinds, key=lambda k: order[k[0]])
    return scene


def paint(scene, seed=0, side=CANVAS):
    """The scene as an RGB Pillow picture of `side` pixels, edges smoothed by 4x supersampling."""
    k = 4 * side / CANVAS
    big = Image.new("RGB", (4 * side, 4 * side), scene.background_rgb)
    for t in scene.things:
        mask = Image.new("L", big.size, 0)
        pen = ImageDraw.Draw(mask)
        c, s = math.cos(math.radians(t.angle)), math.sin(math.radians(t.angle))
        for points, fill in polygons(t.shape):
            pen.polygon([(k * (t.x + t.radius * (c * x - s * y)),
                          k * (t.y + t.radius * (s * x + c * y))) for x, y in points], fill=fill)
        big.paste(Image.new("RGB", big.size, t.rgb), (0, 0), mask)
    picture = big.resize((side, side), Image.BOX)
    if scene.noise > 0:
        rng = np.random.default_rng(seed)
        a = np.asarray(picture, np.float32)
        a = a + rng.normal(0, scene.noise, a.shape)
        picture = Image.fromarray(np.clip(np.round(a), 0, 255).astype(np.uint8))
    return picture


def scene_numbers(scene):
    """float32 [1 + MAX_OBJECTS, 8]: background rgb and noise, then shape, x, y, r, angle, rgb."""
    out = np.zeros((1 + MAX_OBJECTS, 8), np.float32)
    out[0, :4] = (*scene.background_rgb, scene.noise)
    out[1:, 0] = -1
    for i, t in enumerate(scene.things):
        out[1 + i] = (ALL_SHAPES.index(t.shape), t.x, t.y, t.radius, math.radians(t.angle), *t.rgb)
    return out


def sprites():
    """uint8 [shapes, SPRITE, SPRITE]: one smoothed mask per shape."""
    out = np.zeros((len(ALL_SHAPES), SPRITE, SPRITE), np.uint8)
    k = 8
    for i, shape in enumerate(ALL_SHAPES):
        mask = Image.new("L", (SPRITE * k, SPRITE * k), 0)
        pen = ImageDraw.Draw(mask)
        for points, fill in polygons(shape):
            pen.polygon([(k * (SPRITE / 2 + SPRITE_RADIUS * x),
                          k * (SPRITE / 2 + SPRITE_RADIUS * y)) for x, y in points], fill=fill)
        out[i] = np.asarray(mask.resize((SPRITE, SPRITE), Image.BOX))
    return out


def cubic_matrix(n_in, n_out):
    """float32 [n_out, n_in]: one axis of the image processor's cubic resampling (a = -0.5)."""
    s = n_in / n_out
    g = max(s, 1.0)
    m = np.zeros((n_out, n_in))
    for i in range(n_out):
        c = (i + 0.5) * s
        lo, hi = max(0, int(c - 2 * g + 0.5)), min(n_in, int(c + 2 * g + 0.5))
        for k in range(lo, hi):
            t = abs((k - c + 0.5) / g)
            if t < 1:
                m[i, k] = 1.5 * t ** 3 - 2.5 * t * t + 1
            elif t < 2:
                m[i, k] = -0.5 * t ** 3 + 2.5 * t * t - 4 * t + 2
        m[i] /= m[i].sum()
    return torch.tensor(m, dtype=torch.float32)


def patches_of(pixels):
    """[B, 3, side, side] in 0..1 to [B, patches, 768], channel fastest inside a patch."""
    b, _, h, w = pixels.shape
    x = pixels.view(b, 3, h // 16, 16, w // 16, 16).permute(0, 2, 4, 3, 5, 1)
    return x.reshape(b, (h // 16) * (w // 16), 768)


class Painter:
    """Draws batches of scenes on a device."""

    def __init__(self, device):
        self.masks = torch.tensor(sprites(), device=device).float().div_(255).unsqueeze(1)
        self.cubic = cubic_matrix(CANVAS, INPUT).to(device)
        axis = torch.arange(CANVAS, device=device, dtype=torch.float32) + 0.5
        self.yy, self.xx = torch.meshgrid(axis, axis, indexing="ij")

    def __call__(self, numbers, generator=None):
        """numbers [B, 1 + MAX_OBJECTS, 8] to patches [B, 576, 768] bf16 in 0..1."""
        b = numbers.shape[0]
        image = numbers[:, 0, :3].view(b, 3, 1, 1).expand(b, 3, CANVAS, CANVAS)
        for i in range(1, 1 + MAX_OBJECTS):
            n = numbers[:, i]
            shape, x, y, r, angle = (n[:, j].view(b, 1, 1) for j in range(5))
            c, s = torch.cos(angle), torch.sin(angle)
            dx, dy = (self.xx - x) / r.clamp(min=1), (self.yy - y) / r.clamp(min=1)
            k = SPRITE_RADIUS / (SPRITE / 2)
            grid = torch.stack([(c * dx + s * dy) * k, (c * dy - s * dx) * k], -1)
            mask = self.masks[shape.view(b).clamp(min=0).long()]
            a = F.grid_sample(mask, grid, align_corners=False) * (shape.view(b, 1, 1, 1) >= 0)
            image = image + a * (n[:, 5:8].view(b, 3, 1, 1) - image)
        noise = torch.randn(b, 3, CANVAS, CANVAS, device=image.device, generator=generator)
        image = (image + noise * numbers[:, 0, 3].view(b, 1, 1, 1)).round().clamp(0, 255)
        image = (image @ self.cubic.T).round().clamp(0, 255)          # horizontal pass first
        image = (self.cubic @ image).round().clamp(0, 255)
        return patches_of(image / 255).to(torch.bfloat16)
